# SPDX-License-Identifier: BSD-3-Clause
# Compares what app-mpi-match says that it got ("from thread bytes to thread") with
# the pairs that the agent found (VFTR_TEST_PAIRS): awk -f match-truth.awk truth.* pairs.*.
# Prints "messages right wrong": label by label for the pairs that are wrong. Threads of
# the program and of the agent have other numbers, but each has one.
function same_thread(rank, theirs, ours)
{
	if (!((rank, theirs) in thread) && !((rank, ours) in back)) {
		thread[rank, theirs] = ours
		back[rank, ours] = theirs
	}
	return thread[rank, theirs] == ours
}
NF == 5 {
	truth[$1, $3] = $0
	messages++
	next
}
$1 == "pair" {
	# pair LABEL comm C from R.T ticket N tag N bytes N to R.T ticket N bytes N done T
	split($6, from, ".")
	split($14, to, ".")
	split(truth[from[1], $18], t)
	good = $12 == $18 && t[4] == to[1] && same_thread(from[1], t[2], from[2]) &&
		same_thread(to[1], t[5], to[2])
	pairs[$2]++
	if (good)
		right++
	else {
		wrong[$2]++
		print "# wrong: " $0 " truth: " truth[from[1], $18] >"/dev/stderr"
	}
	next
}
{
	print "# " $0 >"/dev/stderr"
	unmatched++
}
END {
	printf "messages %d right %d unmatched %d", messages, right, unmatched
	for (l in pairs)
		printf " %s %d wrong %d", l, pairs[l], wrong[l]
	print ""
}
