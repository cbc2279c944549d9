#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# W1 to W10, the ways in which matching after the fact goes wrong: by real messages
# here, W5 (clocks) on several nodes in t9203, all with made-up records in u-match.c.
test_description='what makes other tools draw wrong arrows'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT"
mpis=$(mpi_list_short)
[ -n "$mpis" ] || skip_all 'no MPI that can be compiled for and run'
messages=${VFTR_LONG:+100000}
messages=${messages:-20000}

for mpi in $mpis; do
	mpicc_traced "$mpi" "$BIN/weak-$mpi" "$T/mpi/program/app-mpi-late-match.c" -pthread ||
		{ echo 'Bail out! app-mpi-late-match.c does not build'; exit 1; }
done

run() {
	rm -f weak* truth.* pairs.* pairs
	cp "$BIN/weak-$1" weak
	VFTR_TEST_PAIRS=$PWD/pairs traced -q -- $(mpirun_of "$1") -np 3 ./weak truth "$messages"
	is 0 "$(json weak_all.json .lost_messages)" losses
	# "tag from ticket to ticket"
	awk '$1 == "pair" { split($6, f, "."); split($14, t, "."); print $10, f[1], $8, t[1], $16 }' \
		pairs.* | sort >pairs
}

# right CASE [N]: its N messages are matched as they came
right() {
	sed -n "s/^$1 //p" truth.* | sort >wanted
	cut -d' ' -f1 wanted | sort -u >tags
	[ "$(wc -l <wanted)" -ge "${2:-1}" ]
	comm -23 wanted pairs >missing
	head -n 5 missing
	[ ! -s missing ]
}

weakness() {
	test_expect "$mpi, $1: $3" "right $1 $2"
}

for mpi in $mpis; do
	test_expect "$mpi: all messages are matched, all pairs are exact" '
		run '"$mpi"'
		is "$(cat truth.* | wc -l)" "$(jq .matching.pairs.exact weak_all.json)" exact
		is "$(cat truth.* | wc -l)" "$(jq ".matching.pairs | add" weak_all.json)" pairs
		is 0 "$(jq ".matching | (.unmatched_sends | add) + (.unmatched_recvs | add)" weak_all.json)" unmatched'
	weakness W1 3 'the same tag and length on two communicators'
	weakness W2 3 'the same tag and length from two sources'
	weakness W3 20 'equal sends: each has a receive of its own'
	weakness W4 $messages 'many messages in flight, received from the last to the first'
	test_expect "$mpi, W4: the agent takes less than 20 us of CPU for each" '
		jq -e "[.agents[].cpu_s] | add < '"$messages"' * 2e-5 + 0.2" weak_all.json ||
			{ jq .agents weak_all.json; false; }'
	weakness W6 2 'receives with more room and of another type than what was sent'
	weakness W7 3 'tags above 65535, a message above 64 MiB'
	weakness W8 1 'one thread sends, another one receives'
	test_expect "$mpi, W8: from the first thread to the second, not to its like" '
		is "0.1 1.2" "$(awk "\$1 == \"pair\" && \$10 == 8 && \$12 == 64 { print \$6, \$14 }" pairs.*)"'
	weakness W9 2 'wildcards, and receives that are cancelled in time or too late'
	weakness W10 8 'the order of posts counts, not that of waits'
done

done_testing
