#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='OpenMP: who had the lock that others waited for, by times that the program took'
. "$(dirname "$0")/../lib/lib.sh"
. "$T/lib/thread-waits.sh"
need jq gcc
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
TEST_FLAGS='-g -O1 -fopenmp'

# blamed JSON: "FUNCTION THREAD SECONDS" for each that others waited for, in all
blamed() {
	jq -r '.waits[] | select(.kind == "lock") | .for[] |
		"\(.path | gsub(" "; "") | split("<") | map(select(test("^(have|want|late|main|in)_?")))[0]) \(.thread // "many") \(.t_s)"' "$1" |
		awk '{ s[$1 " " $2] += $3 } END { for (k in s) printf "%s %.9f\n", k, s[k] }' | sort
}

# as_stamped STAMPS BLAMED: have_KIND of one thread is blamed for what was stamped, within 1 % or
# 20 us an instance, and the threads of in_turn together
as_stamped() {
	awk 'NR == FNR { n[$1] = $2; s[$1] = $3; next }
		/^have_/ { k = substr($1, 6); sub(/_lock$/, "", k); thread[k] = thread[k] " " $2; got[k] += $3; next }
		/^in_turn/ { got["turn"] += $3; thread["turn"] = " "; next }
		{ others += $3 }
		END {
			for (k in s) {
				d = got[k] - s[k]; if (d < 0) d = -d
				most = 0.01 * s[k] + 20e-6 * n[k]
				if (d > most) { print k ": " s[k] " s in " n[k] " waits, not " got[k]; bad = 1 }
				all += s[k]; kinds += s[k] > 0.01 && split(thread[k], x, " ") == (k != "turn")
			}
			print kinds " kinds, " all " s, others " others
			exit bad
		}' "$1" "$2"
}

# says_sum PROGRAM: how much of all waits it is
says_sum() {
	"$VFTR" waits "$1"_*.vfp >shown
	cat shown
	grep -Eq "^Waiting for threads that had a lock: [0-9.]+ m?s, ([5-9][0-9]|100) % of all waits for locks, " shown
}

# locks PROGRAM: another run if the machine was busy between stamp and call
locks() {
	for try in 1 2 3 4; do
		rm -f "$1"_*
		traced -q -- "$BIN/$1" >stamps
		blamed "$1_all.json" >got
		cat stamps got
		as_stamped stamps got >told && { cat told; has told "6 kinds"; says_sum "$1"; return; }
		cat told
	done
	return 1
}

for cc in gcc clang; do
	test_if "echo 'int main(void){return 0;}' >e.c && $cc -fopenmp e.c" "no OpenMP for $cc" \
		"$cc: waits for locks and critical regions lie with the thread that had them" "
		TEST_CC=$cc
		cc_traced $BIN/locks-$cc $T/openmp/app-openmp-locks.c
		locks locks-$cc"
done
test_expect 'vftr waits --rank: those for the threads of the only process, which is 0' '
	for p in "$BIN"/locks-*; do
		p=${p##*/}
		"$VFTR" waits --csv "$p"_*.vfp >all
		grep -E "^lock,.*,0,[0-9]+," all
		"$VFTR" waits --csv --rank 0 "$p"_*.vfp | diff all -
		status_of 2 "$VFTR" waits --rank 1 "$p"_*.vfp 2>said
		is "vftr: there is no rank 1 in the run: its only rank is 0" "$(cat said)"
	done'

test_expect 'a lock that nobody else has makes nobody wait' '
	for p in "$BIN"/locks-*; do
		traced -q -- "$p" alone >stamps
		is 0 "$(awk "{ s += \$2 } END { print s }" stamps)"
		blamed "${p##*/}_all.json" >got
		awk "{ s += \$3 } END { exit s > 0.001 }" got
	done'

test_expect 'when a jump has left the wait for a lock, an attempt in vain is no wait, nor what follows' '
	for p in "$BIN"/locks-*; do
		KMP_LOCK_KIND=tas traced -q -- "$p" left # it can be left
		is 1 "$(calls_of "${p##*/}_all.json" "later<left<main<init")" "${p##*/}"
	done'

# path_as_stamped STAMPS JSON: have_KIND of other threads has so much of the critical path as the first
# one has stamped, within 1 % or 20 us an instance; for "another" it waits at the end of the region
path_as_stamped() {
	jq -r '.critical_path[] | select(.path | test("(^|<)have_")) |
		"\(.path | match("have_([a-z]*)").captures[0].string) \(.t_s)"' "$2" >of_path
	cat of_path
	awk 'NR == FNR { if ($1 == "first") { n[$2] = $3; s[$2] = $4 } next }
		{ got[$1] += $2 }
		END {
			delete s["another"]
			for (k in s) {
				d = got[k] - s[k]; if (d < 0) d = -d
				if (d > 0.01 * s[k] + 20e-6 * n[k]) { print k ": " s[k] " s, not " got[k]; bad = 1 }
				found += s[k] > 0.01
			}
			print found " kinds"
			exit bad || found != 5
		}' "$1" of_path
}
# exact MPI: another run if the machine was busy between stamp and call
exact() {
	for try in 1 2 3 4; do
		rm -rf "exact-$1"
		limit "$VFTR" run -q --trace -o "exact-$1" -- $(mpirun_of "$1") -np 1 "$BIN/exact-$1" >stamps
		"$VFTR" waits --json "exact-$1" >profile.json
		"$VFTR" critical-path --waits --json "exact-$1" >exact.json
		cat stamps
		same_thread_waits profile.json exact.json || return 1
		path_as_stamped stamps exact.json && return
	done
	return 1
}
for mpi in $(mpi_list_short); do
	test_expect "$mpi: --exact: the same waits, and the critical path goes through the thread that had the lock" "
		mpicc_traced $mpi $BIN/exact-$mpi $T/openmp/app-openmp-locks.c -DWITH_MPI -fopenmp -g -O1
		exact $mpi
		jq -e '[.critical_path[].t_s] | add' exact.json
		jq -e '([.critical_path[].t_s] | add) - .efficiency.window_s | fabs < 1e-8' exact.json
		jq -e '([.waits[] | select(.kind == \"lock\") | .t_s] | add) - .thread_wait_s | fabs < 1e-6' exact.json
		jq -e '[.waits[] | select(.kind == \"lock\")][0] | .for[0].thread != null and (.causes[0].path | test(\"have_|in_turn\"))' exact.json
		limit $VFTR waits --exact exact-$mpi >text
		cat text
		grep -E 'Threads waited for threads that had a lock, or what is like it: [0-9.]+ s' text
		grep -E '[|] Lock .*[|] thread 0[.][0-9]+ [0-9]+ % ' text
		hasnt text 'in MPI ('
		hasnt text 'Who made others wait'
		limit $VFTR waits --exact --csv exact-$mpi >csv
		grep -E '^waits,lock,0,.*omp_' csv"
done
done_testing
