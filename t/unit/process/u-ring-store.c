/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings of all processes: used again, and made smaller where memory is short. */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/process/memory.h"
#include "nodeagent/process/rings.h"
#include "shm/ring.h"
#include "t/lib/suite.h"

#define MIB	   ((uint64_t)1 << 20)
#define RINGS_MOST 4096

static struct memory_left machine;

static struct memory_left left(void)
{
	return machine;
}

static struct ring_store *store_of(uint64_t ring_size, uint64_t most, uint64_t now)
{
	static struct ring_store *kept[8]; /* they live as long as a process */
	static unsigned n;

	machine = (struct memory_left){most, now, false};
	ck_assert_uint_lt(n, 8);
	kept[n] = ring_store_new(ring_size, left);
	return kept[n++];
}

/* What a thread does with a ring. */
static void use(struct stored_ring *r)
{
	struct ring mapped;

	ck_assert_int_eq(vftr_segment_map_ring(r->fd, r->ring.size, &mapped), 0);
	ring_start(&mapped, 1, 1);
	mapped.stage[0][1] = mapped.stage[1][7] = 99;
	mapped.producer->head = BLOCK_BYTES;
	mapped.producer->lost = 5;
	ring_release(&r->ring, BLOCK_BYTES);
	vftr_segment_unmap_ring(&mapped);
}

static void is_fresh(const struct stored_ring *r)
{
	uint64_t blocks[2][BLOCK_WORDS], head;

	ck_assert_uint_eq(r->ring.consumer->tail, 0);
	ck_assert_uint_eq(r->ring.producer->magic | r->ring.producer->lost, 0);
	ck_assert_ptr_null(ring_check(&r->ring, 0, &head));
	ck_assert_uint_eq(head, 0);
	ck_assert_uint_eq(ring_unpublished(&r->ring, 0, blocks), 0);
	for (unsigned i = 0; i < BLOCK_WORDS; i++)
		ck_assert_uint_eq(r->ring.stage[0][i] | r->ring.stage[1][i], 0);
}

static void is_fresh_control(const struct stored_control *c)
{
	const char zero[SEGMENT_PAGE] = {0};
	const struct control_agent_shm fresh = {
		.magic = SEGMENT_MAGIC, .record_format = RECORD_FORMAT};

	ck_assert_mem_eq(c->agent, &fresh, sizeof(fresh));
	ck_assert_mem_eq(c->agent + 1, zero, SEGMENT_PAGE - sizeof(fresh));
	ck_assert_mem_eq(c->app, zero, SEGMENT_PAGE);
}

/* What a process and its agent leave in it. */
static void use_control(struct stored_control *c)
{
	struct control_agent_shm *agent;
	struct control_app_shm *app;

	ck_assert_int_eq(vftr_segment_map_control(c->fd, &agent, &app), 0);
	app->definitions = app->look = 7;
	memset((char *)app + SEGMENT_PAGE - 8, 1, 8);
	vftr_segment_unmap_control(agent);
	c->agent->orders = ORDER_LEAVE;
	memset((char *)c->agent + SEGMENT_PAGE - 8, 1, 8);
}

START_TEST(control_segments_serve_the_next_process)
{
	struct ring_store *s = store_of(MIB, 4096 * MIB, 4096 * MIB);
	struct stored_control c[20];
	const void *first;
	unsigned open = 0;

	ck_assert_int_eq(ring_store_take_control(s, &c[0]), 0);
	ring_store_sent_control(s, &c[0]);
	first = c[0].agent;
	for (int i = 0; i < 3; i++) {
		is_fresh_control(&c[0]);
		use_control(&c[0]);
		ring_store_leave_control(s, &c[0], true);
		ck_assert_ptr_null(c[0].agent);
		ck_assert_int_eq(ring_store_take_control(s, &c[0]), 0);
		ck_assert_ptr_eq(c[0].agent, first);
	}
	use_control(&c[0]);
	ring_store_leave_control(s, &c[0], false); /* killed: somebody may still write */
	for (int i = 0; i < 20; i++) {
		ck_assert_int_eq(ring_store_take_control(s, &c[i]), 0);
		is_fresh_control(&c[i]);
		ring_store_sent_control(s, &c[i]);
		open += c[i].fd >= 0;
	}
	ck_assert_uint_eq(open, 16); /* descriptors that it keeps */
	for (int i = 0; i < 20; i++)
		ring_store_leave_control(s, &c[i], true);
	ck_assert_int_eq(ring_store_take_control(s, &c[0]), 0);
	is_fresh_control(&c[0]);
	ring_store_leave_control(s, &c[0], true);
}
END_TEST

START_TEST(rings_serve_the_next_process)
{
	struct ring_store *s = store_of(MIB, 4096 * MIB, 4096 * MIB);
	struct stored_ring r[40];
	const void *first;

	ck_assert_int_eq(ring_store_take(s, &r[0]), 0);
	ring_store_sent(s, &r[0]);
	is_fresh(&r[0]);
	first = r[0].ring.base;
	for (int i = 0; i < 3; i++) {
		use(&r[0]);
		ring_store_leave(s, &r[0], true);
		ck_assert_ptr_null(r[0].ring.base);
		ck_assert_int_eq(ring_store_take(s, &r[0]), 0);
		ck_assert_ptr_eq(r[0].ring.base, first);
		is_fresh(&r[0]);
	}
	use(&r[0]);
	ring_store_leave(s, &r[0], false);
	for (int i = 0; i < 40; i++) {
		ck_assert_int_eq(ring_store_take(s, &r[i]), 0);
		ring_store_sent(s, &r[i]);
		is_fresh(&r[i]);
	}
	for (int i = 0; i < 40; i++)
		ring_store_leave(s, &r[i], true);
	ck_assert_uint_eq(ring_store_peak(s), 40 * RING_SEGMENT_BYTES(MIB));
}
END_TEST

/* Thousands of threads find room, and never more than half of what there is is taken. */
START_TEST(less_memory_smaller_rings)
{
	static struct stored_ring r[RINGS_MOST];
	struct ring_store *s = store_of(MIB, 64 * MIB, 64 * MIB);
	uint64_t sum = 0;
	int n = 0, error;

	while (n < RINGS_MOST && !(error = ring_store_take(s, &r[n]))) {
		ring_store_sent(s, &r[n]);
		sum += r[n].ring.bytes;
		if (n)
			ck_assert_uint_le(r[n].ring.size, r[n - 1].ring.size);
		n++;
	}
	ck_assert_int_eq(error, -ENOMEM);
	ck_assert_int_gt(n, 200);
	ck_assert_uint_le(sum, 32 * MIB);
	ck_assert_uint_gt(sum, 31 * MIB);
	ck_assert_uint_eq(r[0].ring.size, MIB);
	ck_assert_uint_eq(r[n - 1].ring.size, RING_SIZE_MIN);
	ck_assert_uint_eq(ring_store_peak(s), sum);
	while (n--)
		ring_store_leave(s, &r[n], n & 1);
	ck_assert_int_eq(ring_store_take(s, &r[0]), 0);
	ck_assert_uint_eq(r[0].ring.size, MIB);
}
END_TEST

/* The application has taken the rest: it must not be ended for a ring. */
START_TEST(what_others_have_taken)
{
	struct ring_store *s = store_of(4 * MIB, 1024 * MIB, 160 * MIB);
	struct stored_ring r;

	ck_assert_int_eq(ring_store_take(s, &r), 0);
	ck_assert_uint_lt(r.ring.size, MIB);
	machine.left = 64 << 10;
	ck_assert_int_eq(ring_store_take(s, &r), -ENOMEM);
	s = store_of(64 * MIB, 0, 0);
	ck_assert_int_eq(ring_store_take(s, &r), -ENOMEM);
	s = store_of(MIB, UINT64_MAX, UINT64_MAX);
	ck_assert_int_eq(ring_store_take(s, &r), 0);
	ck_assert_uint_eq(r.ring.size, MIB);
}
END_TEST

static uint64_t in_memory(const struct stored_ring *r)
{
	struct stat st;

	ck_assert_int_eq(fstat(r->fd, &st), 0);
	ck_assert_uint_eq((uint64_t)st.st_size, r->ring.bytes);
	return (uint64_t)st.st_blocks * 512;
}

/* A thread that writes little takes little; what it may still write is not given to others. */
START_TEST(memory_comes_as_it_is_written)
{
	struct ring_store *s = store_of(4 * MIB, 1024 * MIB, 1024 * MIB);
	struct stored_ring r, other;
	struct ring mapped;

	ck_assert_int_eq(ring_store_take(s, &r), 0);
	ck_assert_uint_eq(r.ring.size, 4 * MIB);
	ck_assert_uint_le(in_memory(&r), 128 << 10);
	ck_assert_int_eq(vftr_segment_map_ring(r.fd, r.ring.size, &mapped), 0);
	memset(mapped.data, 1, MIB);
	ck_assert_uint_ge(in_memory(&r), MIB);
	ck_assert_uint_le(in_memory(&r), MIB + (64 << 10));
	vftr_segment_unmap_ring(&mapped);

	machine.left = 128 * MIB + 4 * MIB; /* the reserve, and what the ring has not taken */
	ck_assert_int_eq(ring_store_take(s, &other), -ENOMEM);
	for (uint64_t position = 0; position <= 9 * MIB; position += MIB)
		ring_store_read(s, &r, position);
	ck_assert_int_eq(ring_store_take(s, &other), 0);
	ck_assert_uint_lt(other.ring.size, MIB);
	ring_store_leave(s, &other, false);

	machine.left = 1024 * MIB;
	ring_store_leave(s, &r, true);
	ck_assert_int_eq(ring_store_take(s, &r), 0); /* the same again, with all its memory */
	machine.left = 128 * MIB + 4 * MIB;
	ck_assert_int_eq(ring_store_take(s, &other), 0);
}
END_TEST

/* Where the kernel may refuse a page that was promised. */
START_TEST(all_at_once)
{
	struct ring_store *s = store_of(MIB, 1024 * MIB, 1024 * MIB);
	struct stored_ring r;

	machine.strict = true;
	ck_assert_int_eq(ring_store_take(s, &r), 0);
	ck_assert_uint_ge(in_memory(&r), RING_SEGMENT_BYTES(MIB));
}
END_TEST

static char folder[] = "/tmp/u-ring-store-XXXXXX";

static void put(const char *path, const char *text)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", folder, path);
	for (char *s = name + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		mkdir(name, 0700);
		*s = '/';
	}
	f = fopen(name, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void check(uint64_t most, uint64_t now)
{
	struct memory_left m = memory_left(folder, folder);

	ck_assert_uint_eq(m.most, most);
	ck_assert_uint_eq(m.left, now);
}

START_TEST(limits_of_control_groups)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	check(UINT64_MAX, UINT64_MAX);
	put("meminfo", "MemTotal:  2000 kB\nMemFree:  10 kB\nMemAvailable:  1000 kB\n");
	check(2000 << 10, 1000 << 10);
	put("sys/vm/overcommit_memory", "1\n");
	ck_assert(!memory_left(folder, folder).strict);
	put("sys/vm/overcommit_memory", "2\n");
	ck_assert(memory_left(folder, folder).strict);

	/* version 2: a group below a tighter one */
	put("self/cgroup", "0::/job/step\n");
	put("job/step/memory.max", "max\n");
	put("job/step/memory.current", "1000\n");
	check(2000 << 10, 1000 << 10);
	put("job/memory.max", "500000\n");
	put("job/memory.current", "400000\n");
	check(500000, 100000);
	put("job/memory.stat", "anon 1\ninactive_file_no 7\ninactive_file 300000\n");
	check(500000, 400000);
	put("job/step/memory.max", "900\n");
	check(900, 0);

	/* version 1, and a container that does not see its path */
	put("self/cgroup", "3:cpu,cpuacct:/x\n4:memory:/docker/1\n0::/\n");
	put("memory/memory.limit_in_bytes", "9223372036854771712\n");
	put("memory/memory.usage_in_bytes", "5\n");
	check(2000 << 10, 1000 << 10);
	put("memory/memory.limit_in_bytes", "600000\n");
	put("memory/memory.usage_in_bytes", "500000\n");
	put("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 100000\n");
	check(600000, 200000);

	put("self/cgroup", "\n:\n::\nmemory\n4:memory\n4:memory:\n");
	check(600000, 200000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring-store");
	TCase *c = tcase_create("ring-store");
	char command[64];
	int failed;

	tcase_add_test(c, control_segments_serve_the_next_process);
	tcase_add_test(c, rings_serve_the_next_process);
	tcase_add_test(c, less_memory_smaller_rings);
	tcase_add_test(c, what_others_have_taken);
	tcase_add_test(c, memory_comes_as_it_is_written);
	tcase_add_test(c, all_at_once);
	tcase_add_test(c, limits_of_control_groups);
	tcase_set_timeout(c, 60);
	suite_add_tcase(s, c);
	failed = run_suite(s);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) || failed;
}
