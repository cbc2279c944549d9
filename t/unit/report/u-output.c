/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The output files of a profile made in memory: titles, columns and numbers of
 * the logs, and that the JSON says the same.
 */
#include <math.h>
#include <sys/stat.h>

#include "nodeagent/profile/ids.h"
#include "t/unit/report/output-files.h"
#include "t/lib/suite.h"

#define ODD  "odd\"\\\n\xff name"
#define LONG "a_very_long_name_of_a_function_that_only_a_template_can_have"

static uint32_t stack(uint32_t parent, const char *name, uint64_t calls, uint64_t excl_ms,
	uint64_t min_ms, uint32_t rank_min, uint64_t max_ms, uint32_t rank_max, uint32_t ranks)
{
	uint32_t i = add_stack(p, parent, name, UINT64_MAX);
	struct profile_stack *s = &p->stacks[i];

	s->calls = calls;
	s->ranks = ranks;
	s->excl_ns = excl_ms * MS + 123; /* more digits than the log shows */
	s->excl_min_ns = min_ms * MS;
	s->excl_max_ns = max_ms * MS;
	s->rank_min = rank_min;
	s->rank_max = rank_max;
	p->calls += calls;
	for (uint32_t at = i; at != PROFILE_NONE; at = p->stacks[at].parent)
		p->stacks[at].incl_ns += s->excl_ns;
	return i;
}

static void setup(void)
{
	setup_files();
	p->start_s = 1700000000;
	p->end_s = 1700000002;
	p->runtime_s = 1.5;
	p->world_size = p->ranks = p->threads = 4;
	p->ring_bytes = 16 << 20;
	p->records = 12345;
	p->hook_ns_total = 80 * MS;

	uint32_t init = stack(PROFILE_NONE, "init", 0, 0, 0, 0, 0, 0, 4);
	uint32_t main_ = stack(init, "main", 4, 8, 2, 0, 2, 0, 4);
	uint32_t foo = stack(main_, "foo", 20, 40, 5, 3, 20, 1, 4);
	stack(foo, "bar", 6000000000ull, 1000, 100, 2, 300, 1, 4);
	stack(main_, "bar", 1, 7, 7, 3, 7, 3, 1);
	uint32_t even = stack(main_, "even", 3, 30, 30, 0, 30, 0, 1);
	uint32_t odd = stack(even, "odd", 3, 20, 20, 0, 20, 0, 1);
	stack(odd, "even", 3, 10, 10, 0, 10, 0, 1);
	stack(main_, ODD, 2, 5, 1, 0, 4, 1, 2);
	stack(main_, LONG LONG, 1, 1, 1, 0, 1, 0, 1);
	stack(main_, "MPI_Barrier", 4, 3, 0, 0, 2, 2, 4);
	sort_random_stacks(p);
	ck_assert_ptr_null(profile_valid(p));

	p->n_agents = 2;
	p->agents = xcalloc(2, sizeof(*p->agents));
	p->agents[0] = (struct profile_agent){.host = xstrdup("n1"),
		.cpu_s = 0.25,
		.wall_s = 2.0,
		.wakeups = 77,
		.drained_bytes = 3u << 20,
		.records = 12345,
		.affinity = xstrdup("cpu 3"),
		.processes = 4};
	p->agents[1] = (struct profile_agent){.host = xstrdup("n2"), .missing = true};
}

START_TEST(sections)
{
	conf->profile_table_show_minmax_summary = true;
	conf->name_grouped_profile_table_show_table = true;
	char *log = summary();

	in_order(log,
		(const char *const[]){"vftr ", "\nRuntime profile for application: app\n",
			"Start Date: ", " 2023\nEnd Date:   ", "\n\nThis is free software",
			"\nNr. of MPI ranks:            4\n", "Total runtime:            1.50 s\n",
			"Application time:         1.48 s\n", "Overhead:                 0.02 s\n",
			"   Function hooks:        0.02 s\n", "   MPI wrappers:          0.00 s\n",
			"Vftrace used memory:     16.00 MiB\n", "\nRuntime profile\n+-",
			"\n\n\n Summary: Min/Max runtime across all ranks\n+-",
			"\nRuntime profile (Grouped by function name)\n+-", "\nAgents\n+-",
			"\nGlobal call stacks:\n",
			"\nVftrace default configuration, changed on the command line or by "
			"VFTR_SET:\n{\n",
			NULL});
	has(log, "No data from node n2: its agent did not answer.\n");
	has_not(log, "cancelled by signal");
	has_not(log, "not recorded");
	free(log);
}
END_TEST

/* Eight threads a rank that all spend half of their time in hooks. */
START_TEST(overhead_of_threads)
{
	p->threads = 32;
	p->hook_ns_total = 24000 * MS;
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].excl_ns = 0;
	p->stacks[0].excl_ns = 48000 * MS;
	char *log = summary();

	has(log, "Total runtime:            1.50 s\nApplication time:         0.75 s\n"
		 "Overhead:                 0.75 s\n");
	free(log);
}
END_TEST

/* What to tell the compiler stands below the warning, also where hooks cost less than a tenth. */
START_TEST(overhead_of_short_functions)
{
	uint32_t bar = find_stack(p, "bar<foo<main<init");
	char *log;

	p->hook_ns_total = 8000 * MS;
	log = summary();
	has(log, "Warning: tracing took 100 % of the run; 100 % of all calls are of the short "
		 "function bar, which costs 2.00 s.\n   Compile with: "
		 "-finstrument-functions-exclude-function-list=bar\n"
		 "   Or count them, with: -k overhead.count_tiny=5\n");
	has_not(log, "Compile C++");
	free(log);

	p->hook_ns_total = 300 * MS;
	p->stacks[bar].excl_ns = 100 * MS;
	log = summary();
	has(log, "\nWarning: 100 % of all calls are of the short function bar, which costs 75.0 "
		 "ms.\n   Compile with: -fins");
	free(log);

	free(p->names[p->stacks[bar].name]);
	p->names[p->stacks[bar].name] = xstrdup("_ZN3foo3barEv");
	log = summary();
	has(log, "Compile C++ with: what `vftr flags --exclude RUN' prints\n");
	has_not(log, "exclude-function-list");
	free(log);

	p->hook_ns_total = 30 * MS;
	log = summary();
	has_not(log, "short function");
	free(log);
}
END_TEST

/* The finding that threads wait for the agent does not say for which functions. */
START_TEST(overhead_of_short_functions_beside_a_slow_agent)
{
	char *error, *log;

	ck_assert_int_eq(conf_assign(conf, "output.layout=run", &error), 0);
	ck_assert_int_eq(conf_settle_layout(conf), 0);
	p->hook_ns_total = 300 * MS;
	p->blocked_ns = 1400 * MS;
	p->stacks[find_stack(p, "main<init")].excl_ns = 5000 * MS; /* hooks cost less than a tenth */
	p->stacks[find_stack(p, "bar<foo<main<init")].excl_ns = 100 * MS;
	log = summary();
	has(log, "Threads wait 1.40 s");
	has(log, "\nWarning: tracing took 26 % of the run, 82 % of it waiting for the agent; "
		 "100 % of all calls are of the short function bar, which costs 68.0 ms.\n"
		 "   Compile with: -fins");
	free(log);
}
END_TEST

START_TEST(profile_table)
{
	char *log = summary();
	const char *first = row(log, "Runtime profile", 0);
	char *id = xasprintf("%u", find_stack(p, "bar<foo<main<init"));

	has(log, "| t_excl[s] | t_excl[%] | t_incl[s] |");
	has_not(log, "Imbalances");
	has_not(log, "overhead[s]");
	has_not(log, "Callpath");
	cell_is(first, 0, "6000000000");
	cell_is(first, 1, "1.000");
	cell_is(first, 2, "89.0");
	cell_is(first, 3, "1.000");
	cell_is(first, 4, "bar");
	cell_is(first, 5, "foo");
	cell_is(first, 6, id);
	cell_is(row(log, "Runtime profile", 10), 5, "----");
	/* odd names keep the frame, long ones are cut, in the list they are whole */
	has(log, " odd\"\\?? name |");
	has(log, "...");
	has(log, LONG LONG "<main<init");
	free(id);
	free(log);
}
END_TEST

START_TEST(optional_columns)
{
	conf->profile_table_show_calltime_imbalances = true;
	conf->profile_table_show_overhead = true;
	conf->profile_table_show_callpath = true;
	char *log = summary();
	const char *first = row(log, "Runtime profile", 0), *foo = row(log, "Runtime profile", 1);

	has(log, "| overhead[s] | Imbalances[%] | on rank |");
	cell_is(first, 4, "0.080");
	/* mean 250: +50 on rank 1, -150 on rank 2 */
	cell_is(first, 5, "-60.00");
	cell_is(first, 6, "2");
	cell_is(first, 10, "bar<foo<main<init");
	/* mean 10: +10 on rank 1, -5 on rank 3 */
	cell_is(foo, 7, "foo");
	cell_is(foo, 5, "100.00");
	cell_is(foo, 6, "1");
	free(log);
}
END_TEST

START_TEST(sorted_as_configured)
{
	static const struct {
		const char *column;
		bool ascending;
		const char *first, *last;
	} cases[] = {
		{"time_incl", false, "init", LONG},
		{"calls", true, "init", "bar"},
		{"time_excl", true, "init", "bar"},
		{"overhead", false, "bar", "init"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		free(conf->profile_table_sort_table_column);
		conf->profile_table_sort_table_column = xstrdup(cases[i].column);
		conf->profile_table_sort_table_ascending = cases[i].ascending;
		char *log = summary();
		char *last = cell(row(log, "Runtime profile", 10), 4);

		cell_is(row(log, "Runtime profile", 0), 4, cases[i].first);
		ck_assert_int_eq(strncmp(last, cases[i].last, 20), 0);
		free(last);
		free(log);
	}
	free(conf->profile_table_sort_table_column);
	conf->profile_table_sort_table_column = xstrdup("none");
	conf->profile_table_sort_table_ascending = false;
	char *log = summary();

	for (unsigned i = 0; i < p->n_stacks; i++) {
		char *id = xasprintf("%u", i);

		cell_is(row(log, "Runtime profile", i), 6, id);
		free(id);
	}
	free(log);
}
END_TEST

START_TEST(json_equals_the_log)
{
	char *log = summary();
	cJSON *json = parsed();
	const cJSON *stacks = cJSON_GetObjectItem(json, "stacks");

	ck_assert_str_eq(string(json, "format"), "vftr-profile");
	ck_assert_int_eq(number(json, "version"), 1);
	ck_assert_int_eq(number(json, "ranks"), 4);
	ck_assert_int_eq(number(json, "nodes"), 2);
	ck_assert_int_eq(number(json, "events"), 12345);
	ck_assert_uint_eq(cJSON_GetArraySize(stacks), p->n_stacks);
	for (unsigned i = 0; i < p->n_stacks; i++) {
		const char *line = row(log, "Runtime profile", i);
		char *calls = cell(line, 0), *excl = cell(line, 1), *incl = cell(line, 3);
		char *id = cell(line, 6), *path = profile_path(p, atoi(id)), hash[17];
		const cJSON *s = cJSON_GetArrayItem(stacks, atoi(id));
		char text[64];

		ck_assert_int_eq(number(s, "id"), atoi(id));
		snprintf(hash, sizeof(hash), "%016llx",
			(unsigned long long)p->stacks[atoi(id)].hash);
		ck_assert_str_eq(string(s, "hash"), hash);
		if (!strstr(path, "odd\""))
			ck_assert_str_eq(string(s, "path"), path);
		snprintf(text, sizeof(text), "%.0f", number(s, "calls"));
		ck_assert_str_eq(text, calls);
		snprintf(text, sizeof(text), "%.3f", number(s, "t_excl_s"));
		ck_assert_str_eq(text, excl);
		snprintf(text, sizeof(text), "%.3f", number(s, "t_incl_s"));
		ck_assert_str_eq(text, incl);
		ck_assert_uint_eq((uint64_t)llround(number(s, "t_excl_s") * 1e9),
			p->stacks[atoi(id)].excl_ns);
		free(calls);
		free(excl);
		free(incl);
		free(id);
		free(path);
	}
	cJSON_Delete(json);
	free(log);
}
END_TEST

START_TEST(json_strings)
{
	profile_warn(p, "two\nlines\033 \"quoted\" \xc3\xbc \xc3");
	free(summary());
	cJSON *json = parsed(), *s;
	bool found = false;

	for (s = cJSON_GetObjectItem(json, "stacks")->child; s; s = s->next)
		found |= !strcmp(string(s, "function"), "odd\"\\?? name");
	ck_assert(found);
	ck_assert_str_eq(cJSON_GetObjectItem(json, "warnings")->child->valuestring,
		"two\nlines\033 \"quoted\" \xc3\xbc \xef\xbf\xbd");
	cJSON_Delete(json);
}
END_TEST

START_TEST(grouped)
{
	conf->name_grouped_profile_table_show_table = true;
	conf->name_grouped_profile_table_max_stack_ids = 1;
	free(conf->name_grouped_profile_table_sort_table_column);
	conf->name_grouped_profile_table_sort_table_column = xstrdup("calls");
	const char *title = "Runtime profile (Grouped by function name)";
	char *log = summary();
	uint32_t a = find_stack(p, "bar<foo<main<init"), b = find_stack(p, "bar<main<init");
	char *ids = xasprintf("%u,...", a < b ? a : b);

	has(log, " | t_excl[s] | t_excl[%] | t_incl[s] | ");
	cell_is(row(log, title, 0), 0, "6000000001");
	cell_is(row(log, title, 0), 4, "bar");
	cell_is(row(log, title, 0), 5, ids);
	cell_is(row(log, title, 1), 4, "foo"); /* not sorted as the profile is */
	/* even<odd<even: the inner one is part of the outer one */
	const char *even = row(log, title, 2);

	cell_is(even, 4, "even");
	cell_is(even, 0, "6");
	cell_is(even, 1, "0.040");
	cell_is(even, 3, "0.060");

	cJSON *json = parsed(), *g;
	for (g = cJSON_GetObjectItem(json, "functions")->child; g; g = g->next) {
		if (strcmp(string(g, "function"), "even"))
			continue;
		ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(g, "stacks")), 2);
		ck_assert_double_eq_tol(number(g, "t_incl_s"), 0.060, 1e-6);
	}
	cJSON_Delete(json);
	free(ids);
	free(log);
}
END_TEST

START_TEST(minmax)
{
	conf->profile_table_show_minmax_summary = true;
	char *log = summary();
	const char *first = row(log, " Summary: Min/Max runtime across all ranks", 0);
	char *id = xasprintf("%u", find_stack(p, "bar<foo<main<init"));

	cell_is(first, 0, id);
	cell_is(first, 1, "bar");
	cell_is(first, 2, "0.300");
	cell_is(first, 3, "1");
	cell_is(first, 4, "0.100");
	cell_is(first, 5, "2");
	cell_is(first, 6, "0.250");
	free(id);
	free(log);
}
END_TEST

START_TEST(separate_files)
{
	conf->profile_table_show_minmax_summary = true;
	conf->name_grouped_profile_table_show_table = true;
	conf->profile_table_separate = true;
	conf->print_config = false;
	conf->stacklist_show_stacklist = false;
	char *log = summary(), *one = slurp("app_all_minmax.log"),
	     *two = slurp("app_all_namegroup.log");

	has_not(log, "Min/Max");
	has_not(log, "Grouped");
	has_not(log, "configuration");
	has_not(log, "Global call stacks");
	has(one, " Summary: Min/Max runtime across all ranks\n");
	has(two, "Runtime profile (Grouped by function name)\n");
	free(log);
	free(one);
	free(two);
}
END_TEST

/* Ten call paths without the root, of which three are wanted. */
START_TEST(rows_of_counters)
{
	*ADD_ELEMENT(p, counters) =
		(struct profile_counter){.number = 1, .name = xstrdup("A EVENT_A")};
	for (uint32_t i = 0; i < p->n_stacks; i++)
		*ADD_ELEMENT(p, counts) =
			(struct profile_count){.stack = i, .counter = 1, .value = 1000 + i};
	conf->hwprof_show_counters = true;
	conf->profile_table_max_rows = 3;
	char *log = summary(), *table = strstr(log, "HWProf - Hardware Counters");

	ck_assert_ptr_nonnull(table);
	has(table, "... 7 rows with together");
	free(log);
}
END_TEST

START_TEST(deaths_and_losses)
{
	p->n_dead = 2;
	p->dead = xcalloc(2, sizeof(*p->dead));
	p->dead[0] = (struct profile_process){
		.rank = 1, .pid = 100, .end = PROCESS_KILLED, .exit_status = 15, .runtime_s = 1.5};
	p->dead[1] = (struct profile_process){
		.rank = 3, .pid = 123, .end = PROCESS_KILLED, .exit_status = 9, .runtime_s = 1.234};
	p->lost_calls = 12345;
	p->blocked_ns = 120 * MS;
	p->stacks[find_stack(p, "foo<main<init")].lost_calls = 12345;
	profile_warn(p, "two\nlines");
	char *log = summary();
	cJSON *json = parsed();

	in_order(log,
		(const char *const[]){"\n****",
			"\nApplication was cancelled by signal: Killed\n****",
			"Process of rank 3 (pid 123) was killed by signal 9 (Killed) after 1.23 s; "
			"its data are complete up to its last record.\n",
			"12345 calls were not recorded because rings were full or a signal came in "
			"between;",
			"Time ranks waited for room in their rings: 0.12 s\n",
			"Warning: two?lines\n", "Runtime profile\n", NULL});
	cell_is(row(log, "Calls that were not recorded", 0), 0, "12345");
	cell_is(row(log, "Calls that were not recorded", 0), 1, "foo");
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "dead_ranks")), 2);
	ck_assert_int_eq(
		cJSON_GetArrayItem(cJSON_GetObjectItem(json, "dead_ranks"), 1)->valueint, 3);
	ck_assert_int_eq(
		number(cJSON_GetArrayItem(cJSON_GetObjectItem(json, "dead"), 1), "signal"), 9);
	ck_assert_int_eq(number(json, "lost"), 12345);
	ck_assert_double_eq_tol(number(json, "blocked_s"), 0.12, 1e-12);
	cJSON_Delete(json);
	free(log);
}
END_TEST

/* Nothing was cancelled where who started them went on, and ended well. */
START_TEST(deaths_of_workers)
{
	char *log;

	p->world_size = 0;
	p->n_dead = 1;
	p->dead = xcalloc(1, sizeof(*p->dead));
	p->dead[0] = (struct profile_process){.rank = PROFILE_UNRANKED,
		.pid = 100,
		.end = PROCESS_KILLED,
		.exit_status = 11,
		.runtime_s = 1.5};
	log = summary();
	has(log, "\nApplication was cancelled by signal: Segmentation fault\n");
	free(log);
	p->dead[0].outlived = true;
	log = summary();
	has_not(log, "cancelled");
	has(log, "(pid 100) was killed by signal 11 (Segmentation fault) after 1.50 s; ");
	free(log);
}
END_TEST

/* Of all stacks of the job: those of p and one before each. */
static struct profile_number *job_numbers(void)
{
	struct profile_number *numbers = xcalloc(2 * p->n_stacks, sizeof(*numbers));

	for (size_t i = 0; i < p->n_stacks; i++) {
		numbers[2 * i] = (struct profile_number){p->stacks[i].hash - 1, 2 * i};
		numbers[2 * i + 1] = (struct profile_number){p->stacks[i].hash, 2 * i + 1};
	}
	return numbers;
}

START_TEST(node_log)
{
	struct profile_number *numbers = job_numbers();
	char *id = xasprintf("%u", 2 * find_stack(p, "bar<foo<main<init") + 1), *error;

	p->n_processes = 2;
	p->processes = xcalloc(2, sizeof(*p->processes));
	p->processes[0] = (struct profile_process){.rank = 0,
		.pid = 4711,
		.parent_pid = 4700,
		.executable = xstrdup("/opt/app"),
		.end = PROCESS_EXITED,
		.exit_status = 3,
		.threads = 2,
		.runtime_s = 1.5,
		.records = 99,
		.calls = 49,
		.lost_calls = 7,
		.blocked_ns = 50 * MS,
		.ring_bytes = 8u << 20};
	p->processes[1] = (struct profile_process){.rank = PROFILE_UNRANKED,
		.pid = 4712,
		.end = PROCESS_KILLED,
		.exit_status = -1,
		.closed_frames = 2,
		.quarantined = xstrdup("an unknown record")};
	p->unranked = 1;
	ck_assert_int_eq(
		output_node(p, conf, dir, "app", "n1", NULL, numbers, 2 * p->n_stacks, &error), 0);
	ck_assert_ptr_null(error);
	char *log = slurp("app_node_n1.log");

	in_order(log,
		(const char *const[]){"\nNode: n1\n", "\nProcesses\n", "\nRings\n", "\nAgent\n",
			"CPU time:", "0.25 s\n", "12.50 %\n", "77\n", "3.00 MiB\n", "12345\n",
			"0.05 Mrecords/s per busy core\n", "Ran on: cpu 3\n", "\nRuntime profile\n",
			"\nGlobal call stacks:\n", NULL});
	const char *first = row(log, "Processes", 0), *second = row(log, "Processes", 1);
	static const char *const cells[] = {"0", "4711", "4700", "app", "2", "0.000", "1.500", "99",
		"49", "7", "0.050", "8.00", "0", "exited 3"};

	for (unsigned i = 0; i < ARRAY_SIZE(cells); i++)
		cell_is(first, i, cells[i]);
	cell_is(second, 0, "4");
	cell_is(second, 13, "vanished");
	has(log, "(pid 4712) are not complete: an unknown record\n");
	cell_is(row(log, "Runtime profile", 0), 6, id);
	free(id);
	id = xasprintf("STID%u   bar<foo<main<init ", 2 * find_stack(p, "bar<foo<main<init") + 1);
	has(log, id);
	free(id);
	free(log);
	free(numbers);
}
END_TEST

START_TEST(rank_log)
{
	struct profile_process who = {.rank = 11,
		.pid = 5,
		.end = PROCESS_EXITED,
		.exit_status = 0,
		.threads = 1,
		.runtime_s = 1.25,
		.lost_calls = 8,
		.ring_bytes = 4u << 20};
	struct profile_number *numbers = job_numbers();
	char *id = xasprintf("%u", 2 * find_stack(p, "bar<foo<main<init") + 1), *error;

	conf->profile_table_show_calltime_imbalances = true;
	conf->profile_table_show_minmax_summary = true;
	ck_assert_int_eq(
		output_rank(p, &who, 111, conf, dir, "app", numbers, 2 * p->n_stacks, &error), 0);
	char *log = slurp("app_011.log");

	has(log, "Total runtime:            1.25 s\n");
	has(log, "8 calls were not recorded");
	has_not(log, "Imbalances[%]");
	has_not(log, "Min/Max");
	cell_is(row(log, "Runtime profile", 0), 6, id);
	free(log);
	who.rank = 0;
	ck_assert_int_eq(output_rank(p, &who, 10, conf, dir, "app", NULL, 0, &error), 0);
	free(slurp("app_00.log"));
	free(id);
	free(numbers);
}
END_TEST

START_TEST(unwritable)
{
	char *error, *path = xasprintf("%s/app_all.json", dir);
	int rc = output_summary(p, conf, "/nowhere/at/all", "app", &error);

	ck_assert_int_lt(rc, 0);
	ck_assert_str_eq(
		error, "cannot write /nowhere/at/all/app_all.log: No such file or directory");
	free(error);

	/* one file that can't be written does not keep the others back */
	ck_assert_int_eq(mkdir(path, 0700), 0);
	rc = output_summary(p, conf, dir, "app", &error);
	ck_assert_int_lt(rc, 0);
	ck_assert_ptr_nonnull(strstr(error, path));
	free(error);
	free(slurp("app_all.log"));
	ck_assert_int_eq(rmdir(path), 0);
	free(path);
}
END_TEST

/* 20 000 deep: the paths together would be gigabytes */
START_TEST(deep_mutual_recursion)
{
	uint32_t parent;

	profile_free(p);
	p = profile_new();
	p->ranks = p->threads = 1;
	p->n_names = 3;
	p->names = xcalloc(3, sizeof(*p->names));
	p->names[0] = xstrdup("init");
	p->names[1] = xstrdup("a_function_that_calls_the_other_one");
	p->names[2] = xstrdup("the_other_one_that_calls_the_function");
	p->n_stacks = 20001;
	p->stacks = xcalloc(p->n_stacks, sizeof(*p->stacks));
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		parent = i ? i - 1 : PROFILE_NONE;
		p->stacks[i] = (struct profile_stack){.hash = i,
			.parent = parent,
			.name = i ? 1 + i % 2 : 0,
			.calls = 1,
			.ranks = 1,
			.excl_ns = 1000,
			.incl_ns = 1000 * (p->n_stacks - i)};
		p->calls++;
	}
	conf->name_grouped_profile_table_show_table = true;
	char *log = summary();
	const char *title = "Runtime profile (Grouped by function name)";

	ck_assert_uint_lt(strlen(log), 40u << 20);
	has(log, "<...");
	cell_is(row(log, title, 0), 0, "10000");
	cell_is(row(log, title, 0), 3, "0.020");
	free(log);
	cJSON_Delete(parsed());
}
END_TEST

/* Nothing to print, no memory to read beyond. */
START_TEST(empty)
{
	profile_free(p);
	p = profile_new();
	conf->profile_table_show_minmax_summary = true;
	conf->name_grouped_profile_table_show_table = true;
	free(summary());
	cJSON_Delete(parsed());
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {sections, overhead_of_threads, overhead_of_short_functions,
		overhead_of_short_functions_beside_a_slow_agent, profile_table, optional_columns,
		sorted_as_configured, json_equals_the_log, json_strings, grouped, minmax,
		separate_files, rows_of_counters, deaths_and_losses, deaths_of_workers, node_log,
		rank_log, unwritable, deep_mutual_recursion, empty};
	Suite *s = suite_create("output");
	TCase *c = tcase_create("output");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 30);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
