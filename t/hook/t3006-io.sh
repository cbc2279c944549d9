#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='input and output by call path, as the program tells it (vftrace_io_begin)'
. "$(dirname "$0")/../lib/lib.sh"
need jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"

# reads 10 times 100 bytes and fails 3 times in main, and 5 times 1000 bytes are written in a
# region; each of two threads reads 20 times 7 bytes and writes 4 times 3000
cat >io.c <<-'END'
	#include <errno.h>
	#include <fcntl.h>
	#include <poll.h>
	#include <pthread.h>
	#include <signal.h>
	#include <stdio.h>
	#include <stdlib.h>
	#include <string.h>
	#include <sys/mman.h>
	#include <unistd.h>
	#include "vftrace.h"

	#define KEEP __attribute__((noinline, noclone))
	#define QUIET __attribute__((no_instrument_function, noinline))

	static char buf[4096];
	static int zero, null, untraced;

	KEEP static void reads(int n, size_t bytes, int fd)
	{
		while (n--) {
			uint64_t begin = vftrace_io_begin();
			char to[4096];

			__atomic_add_fetch(&untraced, !begin, __ATOMIC_RELAXED);
			vftrace_io_end(VFTRACE_IO_READ, begin, read(fd, to, bytes));
		}
	}

	KEEP static void writes(int n, size_t bytes)
	{
		while (n--) {
			uint64_t begin = vftrace_io_begin();

			vftrace_io_end(VFTRACE_IO_WRITE, begin, write(null, buf, bytes));
		}
	}

	KEEP static void failing(void)
	{
		reads(3, 10, -1);
	}

	KEEP static void *worker(void *arg)
	{
		reads(20, 7, zero);
		writes(4, 3000);
		return arg;
	}

	KEEP static void slow(void)
	{
		uint64_t begin = vftrace_io_begin();

		poll(NULL, 0, 20);
		vftrace_io_end(VFTRACE_IO_WRITE, begin, 1);
	}

	KEEP static void wrong(void)
	{
		uint64_t begin = vftrace_io_begin();

		errno = 77;
		vftrace_io_end((enum vftrace_io)2, begin, 1);
		vftrace_io_end((enum vftrace_io)-1, begin, 1);
		vftrace_io_end(VFTRACE_IO_READ, 0, 1);
		vftrace_pause();
		vftrace_io_end(VFTRACE_IO_READ, vftrace_io_begin(), 1);
		vftrace_resume();
		vftrace_io_end(VFTRACE_IO_READ, begin + ((uint64_t)1 << 60), 0);
		vftrace_io_end(VFTRACE_IO_READ, 1, INT64_MIN);
		if (errno != 77)
			abort();
	}

	/* Before each operation the number of those that are over is stored in the file. */
	KEEP static void killed(const char *file, long most)
	{
		int fd = open(file, O_RDWR | O_CREAT, 0600);
		volatile long *count;

		if (ftruncate(fd, sizeof(*count)))
			abort();
		count = mmap(NULL, sizeof(*count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		for (*count = 0; *count < most; ++*count)
			reads(1, 64, zero);
		kill(getpid(), SIGKILL);
	}

	QUIET static void all(void)
	{
		pthread_t t[2];

		reads(10, 100, zero);
		failing();
		vftrace_region_begin("result");
		writes(5, 1000);
		vftrace_region_end("result");
		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, worker, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	}

	int main(int argc, char **argv)
	{
		zero = open("/dev/zero", O_RDONLY);
		null = open("/dev/null", O_WRONLY);
		if (argc > 2)
			killed(argv[1], atol(argv[2]));
		else if (argc > 1 && !strcmp(argv[1], "slow"))
			slow();
		else if (argc > 1 && !strcmp(argv[1], "wrong"))
			wrong();
		else
			all();
		printf("%d untraced\n", untraced);
		return 0;
	}
END
cc_traced "$BIN/io" io.c || { echo 'Bail out! io.c cannot be compiled'; exit 1; }

# counted FILE: kind, operations, failed ones, bytes, ranks and path of each row
counted() {
	jq -r '.io[] | "\(.kind) \(.operations) \(.failed) \(.bytes) \(.ranks) \(.path)"' "$1" | LC_ALL=C sort
}

# rows_of LOG: the same without paths, from the table of the log, and the name of the function
rows_of() {
	awk '/^Input and output$/ { on = 1; next } on && /^\+/ { if (++frames == 3) exit; next }
		on && frames == 2' "$1" | tr -d ' ' |
		awk -F '|' '{ print $2, $3, $4, $5, $9, $10 }' | LC_ALL=C sort
}

# wanted TIMES: what so many processes together have counted
wanted() {
	LC_ALL=C sort <<-END
		read $((10 * $1)) 0 $((1000 * $1)) $1 reads<main<init
		read $((3 * $1)) $((3 * $1)) 0 $1 reads<failing<main<init
		write $((5 * $1)) 0 $((5000 * $1)) $1 writes<result<main<init
		read $((40 * $1)) 0 $((280 * $1)) $1 reads<worker<$threads
		write $((8 * $1)) 0 $((24000 * $1)) $1 writes<worker<$threads
	END
}
threads=init

test_expect 'two processes of two threads more: operations, failures and bytes of each call path' '
	traced -q -k outfile_basename=two -k logfile_for_ranks=all -- sh -c "$BIN/io & $BIN/io; wait" >said
	wanted 2 >wanted2
	counted two_all.json | diff wanted2 - >&2
	[ "$(grep -c "^0 untraced" said)" = 2 ]'

test_expect 'the summary log has the same rows as JSON' '
	sed "s/<.*//" wanted2 | LC_ALL=C sort >wanted.rows
	rows_of two_all.log | diff wanted.rows - >&2'

test_expect 'each rank log has what its process has done' '
	wanted 1 | sed "s/<.*//" | LC_ALL=C sort >wanted.rank
	for log in two_[0-9].log; do
		rows_of $log | diff wanted.rank - >&2
	done
	is 2 "$(ls two_[0-9].log | wc -l)" "rank logs"'

test_expect 'vftr collate makes the same of the node profile' '
	mkdir -p again
	limit "$VFTR" collate -b two -o again two_*.vfp
	jq -S .io two_all.json >io.agent
	jq -S .io again/two_all.json | diff io.agent - >&2
	rows_of again/two_all.log | diff wanted.rows - >&2'

test_expect 'two node profiles are added: sums, least and greatest time, ranks' '
	mkdir -p other/run both
	traced -q -k outfile_basename=two -o other/run -- "$BIN/io" >said
	set -- two_*.vfp
	cp other/run/two_*.vfp "other/two_other.vfp"
	limit "$VFTR" collate -b two -o both "$1" other/two_other.vfp
	wanted 3 >wanted3
	counted both/two_all.json | diff wanted3 - >&2
	is true "$(jq -s "def t(f): map(.io | map({key: (.kind + .path), value: f}) | from_entries);
		(t(.t_min_s) | [.[0][], .[1][]] | min) == (.[2].io | map(.t_min_s) | min) and
		(t(.t_max_s) | [.[0][], .[1][]] | max) == (.[2].io | map(.t_max_s) | max)" \
		two_all.json other/run/two_all.json both/two_all.json)" "least and greatest"'

test_expect 'the time is that of the operation: least and greatest around 20 ms' '
	traced -q -k outfile_basename=slow -- "$BIN/io" slow >said
	is "write 1 0 1 1 slow<main<init" "$(counted slow_all.json)"
	is true "$(jq ".io[0] | .t_s >= 0.02 and .t_s == .t_min_s and .t_s == .t_max_s" slow_all.json)"
	is true "$(jq "(.stacks[] | select(.function == \"slow\") | .t_incl_s) >= .io[0].t_s" slow_all.json)"'

test_expect 'unknown kinds, a begin of 0 and what is done while paused do not count; nothing is longer than the run' '
	traced -q -k outfile_basename=wrong -- "$BIN/io" wrong >said
	is "read 2 1 0 1 wrong<main<init" "$(counted wrong_all.json)"
	is true "$(jq ".io[0].t_max_s < 60 and .io[0].t_min_s < 0.001" wrong_all.json)"
	hasnt wrong_all.log quarantine'

test_expect 'kill -9: all operations count that were over' '
	for n in 1 100 12345 400000; do
		traced -q -k outfile_basename=killed -- "$BIN/io" count $n >said 2>&1 || :
		is $n "$(od -An -td8 count | tr -d " ")" "by the program"
		is "read $n 0 $((64 * n)) 1 reads<killed<main<init" "$(counted killed_all.json)"
	done'

test_expect 'VFTR_OFF and no agent: nothing is begun, and the program does its work' '
	is "53 untraced" "$(VFTR_OFF=1 limit "$BIN/io")" VFTR_OFF
	is "53 untraced" "$(VFTR_AGENT=off limit "$BIN/io")" VFTR_AGENT'

test_expect 'a program without such calls has no table, no member and no section' '
	cc_traced "$BIN/end" "$T/hook/app-end.c"
	traced -q -- "$BIN/end" exit3 || :
	hasnt end_all.log "Input and output"
	is false "$(jq "has(\"io\")" end_all.json)"
	grep -q "io      " two_*.vfp
	! grep -q "io      " end_*.vfp'

done_testing
