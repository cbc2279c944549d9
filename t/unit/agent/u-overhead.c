/* SPDX-License-Identifier: BSD-3-Clause */
/* overhead.budget_percent: which functions are switched off, and what is said of it. */
#define starved_ns starved_here
#include "nodeagent/agent/overhead.c"

#include <check.h>
#include <unistd.h>
#include "shm/segment.h"
#include "t/lib/suite.h"

#define LOW    0x7f1050000000u
#define OTHER  0x7f2060000000u /* where the second process has the same file */
#define BYTES  0x10000u
#define HOT    0x100u /* addresses in the file */
#define COOL   0x200u
#define PARENT 0x300u
#define MANY   1000000u /* of calls, each of 2 * 50 ns: more than all CPU time of a test */

static struct agent a;
static _Alignas(SEGMENT_PAGE) char pages[2][SEGMENT_PAGE];
static const struct control_app_shm app = {.hook_ps = 50000};
static uint64_t starved; /* ns, of all processes */

uint64_t starved_here(int pid)
{
	return pid > 0 ? starved : 0;
}

static struct process *start(unsigned i, uint64_t low)
{
	struct process *p = process_new(&a.host, -1, getpid());
	struct wire_module m = {.base = low, .low = low, .high = low + BYTES};

	p->greeted = true;
	p->executable = xstrdup("/nowhere/program");
	p->control = (void *)pages[i];
	p->control_app = &app;
	codemap_add(p->code, &m, "/nowhere/program");
	process_enlist(p);
	return p;
}

static void setup(void)
{
	static const struct process_observer *const observers[] = {&overhead_observer, NULL};

	a = (struct agent){.host = {.conf = conf_default(), .n_live = 1, .observers = observers}};
	a.host.symbols = symcache_new(&a.host);
	a.host.conf->overhead_budget_percent = 50;
	memset(pages, 0, sizeof(pages));
	starved = 0;
}

/* So many calls more, of a function that `parent` has called. */
static struct node *call(struct process *p, struct node *parent, uint64_t key, uint64_t calls)
{
	struct node *n = calltree_child(
		p->ended_tree, parent ? parent : calltree_root(p->ended_tree), NULL, key);

	n->calls += calls;
	return n;
}

/* A look after so much more CPU time, in ns. */
static void look_after(double ns)
{
	const uint64_t until = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)ns;

	if (!a.host.overhead)
		a.host.overhead = begin_overhead(a.host.conf);
	while (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
		;
	look_at_all(&a, false);
}

static void look_again(void)
{
	look_after(1.5 * TIME_LEAST);
}

static uint32_t key_at(uint64_t low, uint32_t address)
{
	return (uint32_t)(low + address);
}

static const struct switches_shm *page(unsigned i)
{
	return control_switches((void *)pages[i]);
}

START_TEST(within_the_budget_all_stay)
{
	struct process *p = start(0, LOW);

	call(p, NULL, key_at(LOW, COOL), 10);
	look_again();
	ck_assert_uint_eq(a.host.overhead->n_off, 0);
	ck_assert_uint_eq(page(0)->n, 0);
}
END_TEST

START_TEST(nothing_is_decided_after_too_short_a_time)
{
	struct process *p = start(0, LOW);

	look_again();
	call(p, NULL, key_at(LOW, HOT), MANY);
	look_at_all(&a, false);
	ck_assert_uint_eq(a.host.overhead->n_off, 0);
}
END_TEST

/* As of processes that wait most of the time, or have to wait for a CPU. */
START_TEST(short_times_add_up)
{
	struct process *p = start(0, LOW);

	look_again();
	for (int i = 0; i < 5 && !a.host.overhead->n_off; i++) {
		call(p, NULL, key_at(LOW, HOT), MANY);
		look_after(0.4 * TIME_LEAST);
	}
	ck_assert_uint_eq(a.host.overhead->n_off, 1);
}
END_TEST

/* A leaf goes before its caller, and what costs little stays. */
START_TEST(the_dearest_leaf_goes_first)
{
	struct process *p = start(0, LOW);
	struct node *parent = call(p, NULL, key_at(LOW, PARENT), 2 * MANY);

	call(p, parent, key_at(LOW, HOT), MANY);
	call(p, parent, key_at(LOW, COOL), 1);
	look_again();
	ck_assert_uint_eq(page(0)->n, 1);
	ck_assert_uint_eq(page(0)->id[0], key_at(LOW, HOT));
	ck_assert(a.host.overhead->in_vain); /* the caller costs as much, and calls another one */
}
END_TEST

/* What is off makes its caller no caller. */
START_TEST(a_caller_goes_when_all_that_it_calls_are_off)
{
	struct process *p = start(0, LOW);
	struct node *parent = call(p, NULL, key_at(LOW, PARENT), 1);

	call(p, parent, key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(page(0)->n, 1);
	ck_assert(!a.host.overhead->in_vain);
	parent->calls += MANY;
	look_again();
	ck_assert_uint_eq(page(0)->n, 2);
	ck_assert_uint_eq(page(0)->id[1], key_at(LOW, PARENT));
	parent->calls += MANY; /* it does not go twice */
	look_again();
	ck_assert_uint_eq(page(0)->n, 2);
}
END_TEST

/* One function of a file has one number, wherever processes have the file. */
START_TEST(processes_share_numbers)
{
	struct process *p = start(0, LOW), *q = start(1, OTHER);

	call(p, NULL, key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(page(1)->n, 1);
	ck_assert_uint_eq(page(1)->id[0], 0); /* it has not called it */
	call(q, NULL, key_at(OTHER, HOT), 1);
	look_again();
	ck_assert_uint_eq(page(1)->n, 1);
	ck_assert_uint_eq(page(1)->id[0], key_at(OTHER, HOT));
	ck_assert_uint_eq(page(0)->id[0], key_at(LOW, HOT));
}
END_TEST

START_TEST(some_stay_on)
{
	struct process *p = start(0, LOW);
	struct profile *out = profile_new();

	a.host.conf->overhead_keep = xstrdup(".");
	call(p, NULL, key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(a.host.overhead->n_off, 0);
	overhead_observer.gather(&a.host, out);
	ck_assert_uint_eq(out->n_warnings, 1);
	ck_assert_uint_eq(out->n_switched, 0);
	profile_free(out);
}
END_TEST

/* Its place may become another function's. */
START_TEST(what_may_be_unloaded_stays_on)
{
	struct process *p = start(0, LOW);
	struct wire_module m = {.head.ticks = 20, .base = LOW, .low = LOW, .high = LOW + BYTES};

	codemap_gone(p->code, LOW, 10);
	codemap_add(p->code, &m, "/nowhere/plugin");
	call(p, NULL, (uint64_t)1 << KEY_EPOCH_SHIFT | key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(a.host.overhead->n, 1);
	ck_assert(a.host.overhead->functions[0].stays);
	ck_assert_uint_eq(a.host.overhead->n_off, 0);
}
END_TEST

/* What is MPI's, or no function, is no function to be switched off, but costs. */
START_TEST(only_functions_of_the_program_go)
{
	struct process *p = start(0, LOW);

	call(p, NULL, RECORD_ID_MPI, MANY);
	call(p, NULL, KEY_PAUSE, MANY);
	look_again();
	ck_assert_uint_eq(a.host.overhead->n, 0);
	ck_assert(a.host.overhead->in_vain);
}
END_TEST

START_TEST(no_more_than_there_are_numbers)
{
	struct process *p = start(0, LOW);

	for (uint32_t i = 0; i < SWITCHES_MAX + 5; i++)
		call(p, NULL, key_at(LOW, 16 * i), MANY + i);
	look_again();
	ck_assert_uint_eq(page(0)->n, SWITCHES_MAX);
	ck_assert_uint_eq(page(0)->id[0], key_at(LOW, 16 * (SWITCHES_MAX + 4))); /* the dearest */
	ck_assert(a.host.overhead->in_vain);
}
END_TEST

START_TEST(what_was_not_recorded_is_added_up)
{
	static _Alignas(SEGMENT_PAGE) char ring[2][SEGMENT_PAGE];
	struct process *p = start(0, LOW), *q = start(1, OTHER);
	struct thread_ring of_p = {.process = p, .ring.producer = (void *)ring[0]};
	struct thread_ring of_q = {.process = q, .ring.producer = (void *)ring[1]};
	struct profile *out = profile_new();

	call(p, NULL, key_at(LOW, HOT), MANY);
	look_again();
	ring_switched((void *)ring[0])->calls[0] = 5;
	ring_switched((void *)ring[1])->calls[0] = 7;
	overhead_observer.thread_end(&of_p);
	overhead_observer.thread_end(&of_p); /* another thread */
	overhead_observer.thread_end(&of_q);
	overhead_observer.gather(&a.host, out);
	ck_assert_uint_eq(out->n_switched, 1);
	ck_assert_uint_eq(out->switched[0].calls, 17);
	ck_assert_uint_eq(out->switched[0].processes, 2);
	ck_assert_str_ne(out->switched[0].name, "");
	ck_assert_uint_eq(out->n_warnings, 0);
	profile_free(out);
}
END_TEST

static void teardown(void)
{
	while (a.host.processes) {
		struct process *p = a.host.processes;

		a.host.processes = p->next;
		p->control = NULL;
		process_free(p);
	}
	symcache_free(a.host.symbols);
	conf_free(a.host.conf);
}

/* Of tiny functions all go at once, and what takes its time stays. */
START_TEST(tiny_functions_are_counted)
{
	struct process *p = start(0, LOW);
	struct node *slow = call(p, NULL, key_at(LOW, PARENT), MANY);
	struct profile *out = xcalloc(1, sizeof(*out));

	a.host.conf->overhead_budget_percent = NAN;
	a.host.conf->overhead_count_tiny = 50;
	a.host.clocks.ns_per_tick = 1;
	slow->ticks = (uint64_t)1 << 40;
	call(p, NULL, key_at(LOW, HOT), MANY)->ticks = 1000;
	call(p, NULL, key_at(LOW, COOL), MANY / 2)->ticks = 1000;
	look_again();
	ck_assert_uint_eq(page(0)->n, 2);
	ck_assert_uint_eq(page(0)->id[0], key_at(LOW, HOT));
	ck_assert_uint_eq(page(0)->id[1], key_at(LOW, COOL));
	ck_assert_uint_eq(((struct control_agent_shm *)(void *)pages[0])->counted, 3);
	overhead_observer.gather(&a.host, out);
	ck_assert_uint_eq(out->n_switched, 0);
	ck_assert_uint_eq(out->n_warnings, 1);
	ck_assert_ptr_nonnull(strstr(out->warnings[0], " were counted and not timed, the first"));
	ck_assert_ptr_nonnull(strstr(out->warnings[0], "-k overhead.count_tiny=null times all"));
	profile_free(out);
}
END_TEST

/* Calls that take ten hooks by the clock, while their process waited for a CPU for so long. */
static uint32_t counted_when_starved(uint64_t ns)
{
	struct process *p = start(0, LOW);
	struct node *n = call(p, NULL, key_at(LOW, HOT), MANY);

	a.host.conf->overhead_budget_percent = NAN;
	a.host.conf->overhead_count_tiny = 50;
	a.host.clocks.ns_per_tick = 1;
	n->ticks = (uint64_t)MANY * 500;
	starved = ns;
	look_again();
	return a.host.overhead->n_off;
}

START_TEST(calls_that_waited_for_a_cpu_are_short)
{
	/* the processor's time of a test is more than look_again() takes, and less than 0.3 s */
	ck_assert_uint_eq(counted_when_starved((uint64_t)(10 * 0.3e9)), 1);
}
END_TEST

START_TEST(calls_that_had_a_cpu_are_not)
{
	ck_assert_uint_eq(counted_when_starved(0), 0);
}
END_TEST

/* 100 000 calls are enough, however short the time was. */
START_TEST(many_calls_are_looked_at_before_the_time)
{
	struct process *p = start(0, LOW);

	ck_assert(overhead_tick(&a) > 0);
	a.host.overhead->due_ns = UINT64_MAX; /* a busy machine may stop the test until the time */
	call(p, NULL, key_at(LOW, HOT), MANY);
	a.host.drained_bytes += MANY_BYTES / 2;
	overhead_tick(&a);
	ck_assert_uint_eq(page(0)->n, 0);
	a.host.drained_bytes += MANY_BYTES / 2;
	overhead_tick(&a);
	ck_assert_uint_eq(page(0)->n, 1);
	ck_assert_uint_eq(a.host.overhead->at_once, AT_ONCE);
	ck_assert(1e-9 * (double)pause_ns(a.host.overhead) < LOOK_S);
}
END_TEST

/* Then the mean of so few would be that of waiting. */
START_TEST(many_calls_that_waited_are_not_enough)
{
	struct process *p = start(0, LOW);

	overhead_tick(&a);
	call(p, NULL, key_at(LOW, HOT), MANY);
	a.host.drained_bytes += MANY_BYTES;
	starved = (uint64_t)1e9;
	overhead_tick(&a);
	ck_assert_uint_eq(page(0)->n, 0);
	call(p, NULL, key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(page(0)->n, 1);
}
END_TEST

/* Where all have to stay, each look comes later than the one before. */
START_TEST(looks_in_vain_become_rare)
{
	struct process *p = start(0, LOW);
	unsigned looks = 0;

	a.host.conf->overhead_keep = xstrdup(".");
	overhead_tick(&a);
	for (unsigned i = 0; i < 64; i++) {
		call(p, NULL, key_at(LOW, HOT), MANY);
		a.host.drained_bytes += MANY_BYTES;
		a.host.overhead->least_ns = 0;
		a.host.overhead->due_ns = UINT64_MAX;
		overhead_tick(&a);
		looks += a.host.overhead->due_ns != UINT64_MAX;
	}
	ck_assert_uint_ge(looks, 5);
	ck_assert_uint_le(looks, 7);
}
END_TEST

/* What was counted cost no hook; and with the key the budget counts, too. */
START_TEST(the_budget_counts)
{
	struct process *p = start(0, LOW);
	struct node *n = call(p, NULL, key_at(LOW, HOT), MANY);

	calltree_extra(n)->counted = MANY;
	look_again();
	ck_assert_uint_eq(a.host.overhead->n_off, 0);
	a.host.conf->overhead_count_calls = true;
	call(p, NULL, key_at(LOW, HOT), MANY);
	look_again();
	ck_assert_uint_eq(a.host.overhead->n_off, 1);
	ck_assert_uint_eq(((struct control_agent_shm *)(void *)pages[0])->counted, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("overhead");
	TCase *t = tcase_create("overhead");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, within_the_budget_all_stay);
	tcase_add_test(t, nothing_is_decided_after_too_short_a_time);
	tcase_add_test(t, short_times_add_up);
	tcase_add_test(t, the_dearest_leaf_goes_first);
	tcase_add_test(t, a_caller_goes_when_all_that_it_calls_are_off);
	tcase_add_test(t, processes_share_numbers);
	tcase_add_test(t, some_stay_on);
	tcase_add_test(t, what_may_be_unloaded_stays_on);
	tcase_add_test(t, only_functions_of_the_program_go);
	tcase_add_test(t, no_more_than_there_are_numbers);
	tcase_add_test(t, what_was_not_recorded_is_added_up);
	tcase_add_test(t, tiny_functions_are_counted);
	tcase_add_test(t, the_budget_counts);
	tcase_add_test(t, calls_that_waited_for_a_cpu_are_short);
	tcase_add_test(t, calls_that_had_a_cpu_are_not);
	tcase_add_test(t, many_calls_are_looked_at_before_the_time);
	tcase_add_test(t, many_calls_that_waited_are_not_enough);
	tcase_add_test(t, looks_in_vain_become_rare);
	suite_add_tcase(s, t);
	return run_suite(s);
}
