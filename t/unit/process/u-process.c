/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process says last is heard, however it ends. */
#include <check.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/process/process.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/base/util.h"
#include "shm/ring.h"
#include "shm/wire.h"
#include "t/lib/suite.h"

#define TEXT	"said last"
#define MANY	100	/* more than there are turns */
#define STEP_NS 6000000 /* a turn is over */

static struct host a;
static struct process *p;
static int theirs;
static bool starved;
static long late_ns;

/* In place of the C library's. Starved: between two looks others have had the CPU. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
	const int error = (int)syscall(SYS_clock_gettime, clock, now);

	if (error || clock != CLOCK_MONOTONIC_RAW || !starved)
		return error;
	late_ns += STEP_NS;
	now->tv_nsec += late_ns;
	now->tv_sec += now->tv_nsec / 1000000000;
	now->tv_nsec %= 1000000000;
	return 0;
}

static void say(const void *fixed, size_t bytes, const char *text, size_t n)
{
	char packet[512];

	memcpy(packet, fixed, bytes);
	((struct wire_head *)(void *)packet)->text_bytes = (uint32_t)n;
	memcpy(packet + bytes, text, n);
	ck_assert_int_eq(send(theirs, packet, bytes + n, MSG_NOSIGNAL), (int)(bytes + n));
}

/* A process that is attached, and has not read the answer. */
static void setup(void)
{
	static char host[] = "host", session[] = "u-process";
	const struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION};
	int pair[2];

	starved = false;
	a = (struct host){.name = host, .session = session, .epoll = -1};
	a.conf = conf_default();
	a.counters = counters_new(a.conf);
	a.rings = ring_store_new(RING_SIZE_MIN, ring_store_memory);
	clocks_init(&a.clocks, "raw");
	a.symbols = symcache_new(&a);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	theirs = pair[0];
	p = process_new(&a, pair[1], 0);
	say(&hello, sizeof(hello), "a\0b\0c", 6);
	ck_assert(process_receive(p));
	ck_assert(p->greeted);
}

static void teardown(void)
{
	threads_all_end(p, host_ticks(&a));
	process_free(p);
	symcache_free(a.symbols);
	host_warnings_free(&a);
}

static void say_last_and_end(void)
{
	const struct wire_head note = {.kind = WIRE_NOTE};

	say(&note, sizeof(note), TEXT, sizeof(TEXT));
	close(theirs);
}

static void heard(void)
{
	ck_assert_uint_eq(a.n_warnings, 1);
	ck_assert_str_eq(a.warnings[0], TEXT);
}

/* The kernel tells of the unread answer before it gives what was said. */
START_TEST(before_its_records_are_read)
{
	say_last_and_end();
	ck_assert(process_receive_all(p));
	heard();
	process_hung_up(p);
}
END_TEST

START_TEST(when_its_end_is_seen_first)
{
	say_last_and_end();
	process_hung_up(p);
	ck_assert(p->ended);
	heard();
}
END_TEST

START_TEST(when_the_agent_ends)
{
	say_last_and_end();
	process_finish(p, PROCESS_RUNNING);
	heard();
}
END_TEST

START_TEST(on_a_busy_machine)
{
	const struct wire_head note = {.kind = WIRE_NOTE};
	struct wire_welcome answer;

	ck_assert_int_eq(recv(theirs, &answer, sizeof(answer), 0), sizeof(answer));
	for (int i = 1; i < MANY; i++)
		say(&note, sizeof(note), TEXT, sizeof(TEXT));
	say_last_and_end();
	starved = true;
	process_hung_up(p);
	ck_assert_uint_eq(p->definitions, MANY);
}
END_TEST

/* p is this child of ours. pidfds: whether the kernel has them. */
static void be(pid_t child, bool pidfds)
{
	p->pid = child;
	p->pidfd = pidfds ? (int)syscall(SYS_pidfd_open, child, 0) : -1;
	ck_assert(!pidfds || p->pidfd >= 0);
	p->began = pidfds ? 0 : procfs_began(child);
}

START_TEST(with_an_end_that_is_not_heard_of_yet)
{
	siginfo_t info;
	int go[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(go[1]);
		_exit(read(go[0], &byte, 1) != 0);
	}
	be(child, _i);
	close(go[1]);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	p->said_bye = true;
	process_finish(p, PROCESS_RUNNING);
	ck_assert_int_eq(p->end, PROCESS_EXITED);
	close(go[0]);
}
END_TEST

START_TEST(while_it_goes_on)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, _i);
	process_finish(p, PROCESS_RUNNING);
	ck_assert_int_eq(p->end, PROCESS_RUNNING);
	kill(child, SIGKILL);
}
END_TEST

static void pass_100_ms(void)
{
	p->deaf_seen -= 100000000;
}

/* It has closed our socket, and does something else later. */
START_TEST(though_it_has_closed_the_socket)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, _i);
	close(theirs);
	process_hung_up(p);
	ck_assert(!p->ended);
	ck_assert_uint_eq(p->end_ticks, 0);
	ck_assert_double_lt(processes_deaf_tick(&a), 0.2);
	ck_assert(!p->ended);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	pass_100_ms();
	if (_i)
		process_hung_up(p);
	else
		processes_deaf_tick(&a);
	ck_assert(p->ended);
	ck_assert_int_eq(p->end, PROCESS_KILLED);
	ck_assert_uint_gt(p->end_ticks, 0);
	ck_assert(_i || p->end_late_ns >= 100000000);
}
END_TEST

/* It has closed our socket, and its parent has not waited for it. */
START_TEST(without_pidfds_a_zombie_has_ended)
{
	const pid_t child = fork();
	siginfo_t info;

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, false);
	ck_assert_uint_gt(p->began, 0);
	close(theirs);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	process_hung_up(p);
	ck_assert(p->ended);
	ck_assert_int_eq(p->end, PROCESS_KILLED);
	ck_assert_int_eq(p->exit_status, SIGKILL);
}
END_TEST

START_TEST(without_pidfds_the_end_of_a_quarantined_one_is_seen)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, false);
	process_quarantine(p, "nonsense");
	close(theirs);
	process_hung_up(p);
	ck_assert(!p->ended);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	pass_100_ms();
	ck_assert_double_lt(processes_deaf_tick(&a), 0.2);
	ck_assert(p->ended);
}
END_TEST

/* All our descriptors are in use, so that /proc cannot be read. */
START_TEST(without_pidfds_it_goes_on_though_nothing_can_be_looked_at)
{
	const pid_t child = fork();
	struct rlimit before, none;

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, false);
	close(theirs);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	process_hung_up(p);
	ck_assert(!p->ended);
	processes_deaf_tick(&a);
	ck_assert(!p->ended);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	pass_100_ms();
	processes_deaf_tick(&a);
	ck_assert(p->ended);
	ck_assert_int_eq(p->end, PROCESS_KILLED);
}
END_TEST

/* Of a pid that is given to another process. */
START_TEST(without_pidfds_an_other_process_is_not_taken_for_it)
{
	const pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	be(child, false);
	p->began--;
	close(theirs);
	process_hung_up(p);
	ck_assert(p->ended);
	kill(child, SIGKILL);
}
END_TEST

START_TEST(until_it_runs_another_program)
{
	int go[2], gone[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe2(go, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(gone, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		close(gone[0]);
		if (read(go[0], &byte, 1) == 1)
			execlp("sleep", "sleep", "600", (char *)NULL);
		_exit(1);
	}
	close(gone[1]);
	be(child, _i);
	close(theirs);
	process_hung_up(p);
	ck_assert_int_eq(write(go[1], "", 1), 1);
	ck_assert_int_eq(read(gone[0], &byte, 1), 0); /* closed by exec */
	p->deaf_seen = clock_raw_ns();		      /* however long the exec took */
	processes_deaf_tick(&a);
	ck_assert(!p->ended);
	pass_100_ms();
	processes_deaf_tick(&a);
	ck_assert(p->ended);
	ck_assert_int_eq(p->end, PROCESS_EXECED);
	ck_assert_uint_ge(p->end_late_ns, 100000000);
	kill(child, SIGKILL);
}
END_TEST

/* Its mappings cannot be read: it may forbid that itself. */
START_TEST(a_program_of_another_user_is_another_one)
{
	int said[2];
	char byte;
	pid_t child;

	if (geteuid())
		return;
	ck_assert_int_eq(pipe2(said, O_CLOEXEC), 0);
	child = fork();
	if (!child) {
		byte = setresuid(65534, 65534, 65534) != 0;
		if (write(said[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	ck_assert_int_eq(read(said[0], &byte, 1), 1);
	if (!byte)
		ck_assert(procfs_has_other_user(child));
	ck_assert(!procfs_has_other_user(getpid()));
	kill(child, SIGKILL);
}
END_TEST

static bool is_behind(const struct host *host)
{
	return true;
}

/* A thread of q, with a block that it has published. */
static void publish_block(struct process *q)
{
	const struct wire_thread thread = {.head.kind = WIRE_THREAD, .tid = 1};
	struct ring *ring;

	say(&thread, sizeof(thread), "t", 2);
	ck_assert(process_receive(q));
	ring = &q->threads[0]->ring;
	ck_assert_int_eq(mprotect(ring->base, ring->bytes, PROT_READ | PROT_WRITE), 0);
	ring_start(ring, 1, host_ticks(&a));
	ring_publish(ring, 0);
}

/* Processes of a host are read side by side, each as far as it has published. */
START_TEST(beside_others)
{
	const struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION};
	const int first = theirs;
	struct process *other;
	int pair[2];

	publish_block(p);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	theirs = pair[0];
	other = process_new(&a, pair[1], 0);
	say(&hello, sizeof(hello), "a\0b\0c", 6);
	ck_assert(process_receive(other));
	publish_block(other);
	a.live = p;
	p->next_live = other;
	other->next_live = NULL;
	a.is_behind = is_behind;
	ck_assert_uint_eq(drain_host(&a), 0);
	a.is_behind = NULL;
	ck_assert_uint_eq(drain_host(&a), 2 * BLOCK_BYTES);
	ck_assert_uint_eq(drain_host(&a), 0);
	p->ended = true;
	ck_assert_uint_eq(drain_host(&a), 0);
	p->ended = false;
	a.live = NULL;
	close(theirs);
	theirs = first;
	threads_all_end(other, host_ticks(&a));
	process_free(other);
}
END_TEST

/* A round of a session is over when its records are read: so they are, or they count for the next.
 */
START_TEST(though_the_disk_is_behind)
{
	publish_block(p);
	a.is_behind = is_behind;
	ck_assert_uint_eq(drain_process(p), 0);
	ck_assert_uint_eq(drain_process_now(p), BLOCK_BYTES);
}
END_TEST

/* What it says makes no sense: its threads do not wait for room, either. */
START_TEST(unless_it_is_quarantined)
{
	const struct wire_head nonsense = {.kind = WIRE_KINDS};
	struct ring *ring;

	publish_block(p);
	ck_assert_uint_eq(drain_process(p), BLOCK_BYTES);
	ring = &p->threads[0]->ring;
	ring_stage_open(ring, 1, 0, host_ticks(&a));
	ring_publish(ring, 1);
	say(&nonsense, sizeof(nonsense), "", 0);
	process_receive(p);
	ck_assert_ptr_nonnull(p->quarantined);
	ck_assert_uint_eq(drain_process(p), 0);
	ck_assert_uint_eq(load_relaxed(&p->threads[0]->ring.consumer->retired), 1);
}
END_TEST

/* It counts for no child of a fork that may still come. */
START_TEST(who_is_refused_was_no_child)
{
	const struct wire_hello hello = {.head.kind = WIRE_HELLO, .version = WIRE_VERSION + 1};
	struct process *other;
	int pair[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	other = process_new(&a, pair[1], 0);
	a.children_seen = 5;
	close(theirs);
	theirs = pair[0];
	say(&hello, sizeof(hello), "a\0b\0c", 6);
	process_receive(other);
	ck_assert(other->turned_away);
	ck_assert_uint_eq(a.children_seen, 4);
	process_free(other);
}
END_TEST

START_TEST(a_build_id_that_is_too_long_is_not_taken)
{
	const struct wire_module module = {.head.kind = WIRE_MODULE,
		.base = 4096,
		.low = 4096,
		.high = 8192,
		.build_id_bytes = 1u << 24};
	static const char path[] = "/tmp/vftr-u-process-none.so (deleted)";

	say(&module, sizeof(module), path, sizeof(path));
	ck_assert(process_receive(p));
	ck_assert(!p->quarantined);
}
END_TEST

START_TEST(a_library_that_is_gone_is_not_taken_for_the_program)
{
	const uintptr_t code = (uintptr_t)procfs_removed_file;
	char runs[4096] = "", exe[64], *readable;

	ck_assert_int_gt(readlink("/proc/self/exe", runs, sizeof(runs) - 1), 0);
	snprintf(exe, sizeof(exe), "/proc/%d/exe", getpid());
	ck_assert_ptr_null(procfs_removed_file(getpid(), 0, "/tmp/gone.so"));
	for (int i = 0; i < 2; i++) {
		readable = procfs_removed_file(getpid(), i ? code : 0, runs);
		ck_assert_str_eq(readable, exe);
		free(readable);
	}
}
END_TEST

/* Where this program is loaded. */
static int note_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1; /* the first one */
}

static void copy_program(const char *to)
{
	char line[256];

	snprintf(
		line, sizeof(line), "cp /proc/%d/exe %s.new && mv %s.new %s", getpid(), to, to, to);
	ck_assert_int_eq(system(line), 0);
}

/* It was asked for before that, too. */
START_TEST(a_file_that_changed_after_it_was_told_of_is_another_one)
{
	char dir[] = "/tmp/vftr-u-process-XXXXXX", path[64];
	struct code_location location = {.path = path};
	uintptr_t base = 0;
	uint64_t start;
	const char *name;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/file", dir);
	dl_iterate_phdr(note_base, &base);
	location.address = (uintptr_t)procfs_removed_file - base;
	(void)symcache_find_object(a.symbols, &location, &start);
	copy_program(path);
	symcache_see(a.symbols, path);
	if (_i)
		copy_program(path);
	name = symcache_find(a.symbols, &location, location.address, &start);
	unlink(path);
	rmdir(dir);
	if (_i)
		ck_assert_ptr_null(name);
	else
		ck_assert_str_eq(name, "procfs_removed_file");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("process");
	TCase *c = tcase_create("process");
	const TTest *const tests[] = {before_its_records_are_read, when_its_end_is_seen_first,
		when_the_agent_ends, on_a_busy_machine, a_program_of_another_user_is_another_one,
		though_the_disk_is_behind, beside_others, unless_it_is_quarantined,
		who_is_refused_was_no_child, without_pidfds_a_zombie_has_ended,
		without_pidfds_the_end_of_a_quarantined_one_is_seen,
		without_pidfds_it_goes_on_though_nothing_can_be_looked_at,
		without_pidfds_an_other_process_is_not_taken_for_it,
		a_build_id_that_is_too_long_is_not_taken,
		a_library_that_is_gone_is_not_taken_for_the_program};
	/* without pidfds, and with them */
	const TTest *const both[] = {with_an_end_that_is_not_heard_of_yet, while_it_goes_on,
		though_it_has_closed_the_socket, until_it_runs_another_program};

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	for (size_t i = 0; i < ARRAY_SIZE(both); i++)
		tcase_add_loop_test(c, both[i], 0, 2);
	tcase_add_loop_test(c, a_file_that_changed_after_it_was_told_of_is_another_one, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
