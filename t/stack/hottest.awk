# SPDX-License-Identifier: BSD-3-Clause
# usage: awk -v most=PERCENT -v n=N -f hottest.awk KNOWN SAMPLED: lines "TIME FUNCTION", where a
# function may have several. Fails if the share of one of the N functions with the most time in
# KNOWN differs by more than `most' percent of all time.
FNR == NR {
	time = $1
	sub(/^[^ ]+ /, "")
	known[$0] += time
	all += time
	next
}
{
	time = $1
	sub(/^[^ ]+ /, "")
	sampled[$0] += time
	all_sampled += time
}
END {
	bad = all <= 0 || all_sampled <= 0
	for (k = 0; k < n && !bad; k++) {
		top = ""
		for (f in known)
			if (!(f in done) && (top == "" || known[f] > known[top]))
				top = f
		if (top == "")
			break
		done[top]
		want = 100 * known[top] / all
		got = 100 * sampled[top] / all_sampled
		printf "%5.1f %%, by samples %5.1f %%: %s\n", want, got, top
		if (got - want > most || want - got > most)
			wrong++
	}
	exit bad || wrong > 0
}
