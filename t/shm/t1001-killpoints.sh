#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='a process killed at any step loses nothing that it had stored'
. "$(dirname "$0")/../lib/lib.sh"

need gcc make jq
need_built "$AGENT"

# A library that kills its process at a named step, the n-th time it is passed.
own=$VFTR_TEST_DIR/obj
# In the short form it is this build, but for these: others have no kill points, not by functions of headers either.
# A point that none of them has kills nobody, which its rows find.
with_points='libhook/emit.o libhook/hook.o libhook/slow.o libhook/api/region.o libhook/openmp/construct.o
	libhook/switches/gated.o libhook/switches/sled-hooks.o shm/killpoint.o'
test_expect 'the library builds with kill points' '
	mkdir "$own"
	if [ -z "$VFTR_LONG" ]; then
		(cd "$BUILD" && cp -Rp --parents $(find libhook shm fortran include gen -name "*.[oh]" -o -name "*.mod") prefix "$own")
		(cd "$own" && rm -f $with_points)
	fi
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s -C "$TOP" O="$own" MPIS= CFLAGS="-O2 -g -DVFTR_KILLPOINTS" \
		"$own/lib/libvftrace.so" "$own/lib/libvftrace.a" "$own/gen/mpi_id.h"'

# Two words in a shared file tell what was called: leaf when it runs, so after
# its enter was stored; and whether a call is in flight.
cat >count.c <<'EOF'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
static volatile long *calls;
__attribute__((noinline)) void leaf(void)
{
	calls[0]++;
}
__attribute__((noinline)) void middle(void)
{
	calls[1]++;
	for (int i = 0; i < 3; i++)
		leaf();
}
int main(int argc, char **argv)
{
	int n = atoi(argv[2]), fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (ftruncate(fd, 4096))
		return 3;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < n; i++)
		middle();
	return 0;
}
EOF
gcc $TEST_FLAGS -finstrument-functions -o count count.c -L"$own/lib" \
	-Wl,--no-as-needed -lvftrace -Wl,-rpath,"$own/lib"

# The same for records of several words, as the MPI wrappers store them: word 0
# counts those that were stored, in frames of MPI_Send.
cat >emit.c <<'EOT'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "mpi_id.h"
#include "shm/message.h"
/* two places of calls */
void here(void) {}
void there(void) {}
int main(int argc, char **argv)
{
	int n = atoi(argv[2]), fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600);
	volatile long *calls;

	if (ftruncate(fd, 4096))
		return 3;
	calls = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	for (int i = 0; i < n; i++) {
		vftr_enter_call(VFTR_MPI_SEND, (char *)(i % 2 ? here : there) + 1);
		vftr_emit_4(message_head(RECORD_SEND, 7), message_pair((uint32_t)i, 1),
			message_subject(MESSAGE_COMM_NONE, 1, 0), message_last(0, 8));
		calls[0]++;
		vftr_exit_id(RECORD_ID_MPI + VFTR_MPI_SEND);
	}
	return 0;
}
EOT
gcc $TEST_FLAGS -D_GNU_SOURCE -I"$TOP" -I"$own/gen" -DVFTR_KILLPOINTS -o emit emit.c "$own/lib/libvftrace.a" -ldl -lpthread

at() {
	od -An -t d8 -j $(($1 * 8)) -N 8 counts | tr -d " "
}

# Recorded calls of a function are those it counted, or one more: in flight.
recorded() {
	[ "$2" = "$3" ] || [ "$2" = $(($3 + 1)) ] || {
		echo "$1: $2 calls in the profile, $3 counted" >&2
		return 1
	}
}

# dies PROGRAM POINT N CALLS [AGENT OPTION...]: of the kill point
dies() {
	program=$1 point=$2 nth=$3 calls=$4 tries=3
	shift 4
	# one process in 1000 or more has two modules whose addresses are alike in their lower
	# half, stores all calls in full, and may not pass the point
	while
		rm -f "$program"_*
		head -c 16 /dev/zero >counts
		test_got=0
		env VFTR_KILLPOINT="$point:$nth" "$AGENT" -q "$@" -- "./$program" counts "$calls" ||
			test_got=$?
		tries=$((tries - 1))
		[ $test_got = 0 ] && [ $tries -gt 0 ]
	do :; done
	status_of 137 sh -c "exit $test_got"
}

# killed POINT N CALLS [AGENT OPTION...]
killed() {
	dies count "$@"
	set -- $(json count_all.json "def calls(\$path): [.stacks[] | select(.path == \$path) | .calls] | add // 0;
		calls(\"leaf<middle<main<init\"), calls(\"middle<main<init\"), .lost, (.dead_ranks | length),
		(.dead[0] | .signal, (.executable | split(\"/\")[-1]))")
	recorded leaf "$1" "$(at 0)"
	recorded middle "$2" "$(at 1)"
	is "0 1 9 count" "$3 $4 $5 $6" "lost, dead ranks, signal and program of the dead"
}

# killed_emitting POINT N CALLS [AGENT OPTION...]
killed_emitting() {
	dies emit "$@"
	got=$(json emit_all.json "([.mpi[].sends] | add // 0), .lost, .lost_messages, [.warnings[] | select(test(\"sane\"))]" | tr "\n" " ")
	is "0 0 [] " "${got#* }" "lost calls and messages, warnings"
	got=${got%% *}
	[ "$got" = "$(at 0)" ] || [ "$got" = $(($(at 0) + 1)) ] || {
		echo "$got sends in the profile, $(at 0) counted" >&2
		return 1
	}
	# no call without its place, which alternates
	json emit_all.json "[.stacks[] | select(.path | test(\"^MPI_Send<\")) | \"\(.path | test(\"^MPI_Send<call@\")) \(.calls)\"] | .[]" |
		awk -v n="$(at 0)" "\$1 != \"true\" || (\$2 < int(n / 2)) || (\$2 > n / 2 + 1) { bad = 1 } END { exit bad }"
}

test_expect 'without a kill the counts are equal' '
	status_of 0 "$AGENT" -q -- ./count counts 3000
	is 3000 "$(at 1)"
	is 9000 "$(calls_of count_all.json "leaf<middle<main<init")"
	is "[]" "$(jq -c .dead_ranks count_all.json)"'

points=$(sed -n 's/.*KILLPOINT("\([a-z.]*\)").*/\1/p' "$TOP"/shm/*.[ch] "$TOP"/libhook/*.[ch] "$TOP"/libhook/*/*.[ch] | sort -u)

test_expect 'there are kill points' 'test $(echo "$points" | wc -l) -ge 8'

for point in $points; do
	case $point in
	fast.*) times="1 ${VFTR_LONG:+2 510} 511 ${VFTR_LONG:+512} 9000" ;;
	emit.* | site.*) times="1 ${VFTR_LONG:+2 510} 511 ${VFTR_LONG:+512} 2900" ;;
	*) times="1 ${VFTR_LONG:+2 3} 9" ;;
	esac
	killed=killed
	case $point in emit.* | site.*) killed=killed_emitting ;; esac
	for n in $times; do
		test_expect "$point, time $n" "$killed $point $n 3000"
	done
	test_expect "$point in a ring of the smallest size" \
		"$killed $point 30 100000 --set shm.ring_size=32KiB"
done

done_testing
