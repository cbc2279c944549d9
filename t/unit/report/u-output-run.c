/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of layout run, from profiles that have something for each of them. */
#include "t/unit/report/output-files.h"

#include "nodeagent/base/table.h"
#include "t/lib/suite.h"

extern const char *const vftr_mpi_names[];
extern const unsigned vftr_mpi_n;

#define PROFILES 40
#define LONG	 "a_very_long_name_of_a_function::that_only_a_template_can_have"

static void assign(const char *assignment)
{
	char *error;

	ck_assert_int_eq(conf_assign(conf, assignment, &error), 0);
}

static void setup(void)
{
	setup_files();
	assign("output.layout=run");
}

/* One with all kinds of measures, and with long names. */
static void throw_profile(uint32_t number)
{
	struct dice d = {.state = number};

	profile_free(p);
	p = random_profile(&d, 1, 60, UINT64_MAX);
	for (uint32_t i = 0; i < p->n_names && i < 4; i++) {
		free(p->names[i]);
		p->names[i] = xasprintf(LONG LONG "%u", i);
	}
	for (size_t i = 0; i < p->n_gpu_devices; i++) {
		free(p->gpu_devices[i].name);
		p->gpu_devices[i].name = xstrdup("NVIDIA H100 80GB HBM3 of a very long name");
	}
}

static size_t widest_line_of_a_table(const char *log)
{
	size_t widest = 0;

	for (const char *line = log; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';

		char *one = strndup(line, strcspn(line, "\n"));
		size_t columns = text_columns(one);

		if ((strchr("|+", *one) || !strncmp(one, "    ", 4)) && *one && columns > widest)
			widest = columns;
		free(one);
	}
	return widest;
}

static char *node_log(void)
{
	char *error;
	int rc = output_node(p, conf, dir, "", "node1", NULL, NULL, 0, &error);

	ck_assert_msg(!rc && !error, "%s", error);
	return slurp("node-node1.log");
}

/* Of the summary and the node log of many profiles. */
static size_t widest_of_all(void)
{
	size_t widest = 0;

	for (uint32_t i = 1; i <= PROFILES; i++) {
		char *logs[2];

		throw_profile(i);
		logs[0] = summary();
		logs[1] = node_log();
		for (int k = 0; k < 2; k++) {
			size_t columns = widest_line_of_a_table(logs[k]);

			widest = columns > widest ? columns : widest;
			free(logs[k]);
		}
	}
	return widest;
}

START_TEST(no_table_is_wider_than_120_columns)
{
	ck_assert_int_eq(conf_settle_layout(conf), 0);
	ck_assert_uint_le(widest_of_all(), 120);
}
END_TEST

START_TEST(wider_ones_are_shown_if_asked_for)
{
	assign("output.max_columns=0");
	ck_assert_int_eq(conf_settle_layout(conf), 0);
	ck_assert_uint_gt(widest_of_all(), 160);
}
END_TEST

static struct profile_messages *of_mpi(const char *path)
{
	struct profile_messages *m = ADD_ELEMENT(p, messages);

	m->stack = find_stack(p, path);
	m->sends = m->receives = 100;
	m->bytes_sent = m->bytes_received = 100 * 3 << 20;
	m->send_ns = m->receive_ns = 100 * 5 * MS;
	/* some were fast: the mean of the rates of single messages is no rate of the row */
	m->send_bandwidth = m->receive_bandwidth = (unsigned __int128)100 * 9600 << 20;
	return m;
}

static uint32_t mpi_number(const char *name)
{
	uint32_t id = 0;

	while (id < vftr_mpi_n && strcmp(vftr_mpi_names[id], name))
		id++;
	return id;
}

/* Two ranks, 400 ms of f on rank 0 and 100 on rank 1, 900 us of g. */
static void two_ranks(void)
{
	struct profile_function *f;
	uint32_t init = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	add_stack(p, add_stack(p, init, "f", UINT64_MAX), "MPI_Sendrecv", UINT64_MAX);

	add_stack(p, init, "g", UINT64_MAX);
	sort_random_stacks(p);
	p->world_size = p->ranks = p->threads = 2;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];
		const char *name = p->names[s->name];

		s->calls = s->ranks = 2;
		s->excl_ns = *name == 'f' ? 500 * MS : *name == 'g' ? 900000 : 0;
		s->excl_max_ns = *name == 'f' ? 400 * MS : s->excl_ns / 2;
		s->excl_min_ns = s->excl_ns - s->excl_max_ns;
		s->rank_min = *name == 'f';
	}
	of_mpi("MPI_Sendrecv<f<init");
	for (int i = 0; i < 2; i++) {
		f = ADD_ELEMENT(p, functions);
		f->id = mpi_number(i ? "MPI_Sendrecv" : "MPI_Init");
		f->calls = f->ranks = 2;
		f->ns = i ? 10 * MS : 3000 * MS;
		f->bytes_sent = 5 << 10;
	}
	ck_assert_int_eq(conf_settle_layout(conf), 0);
}

START_TEST(numbers_have_units_and_titles_say_what_is_summed)
{
	char *log;

	two_ranks();
	log = summary();
	has(log, "\nRuntime profile (sum over 2 ranks)\n");
	has(log, "| t_excl[ms] |");
	cell_is(row(log, "Runtime profile (sum over 2 ranks)", 0), 1, "500.000");
	cell_is(row(log, "Runtime profile (sum over 2 ranks)", 1), 1, "0.900");
	/* too much: 400 ms where the mean is 250 */
	cell_is(row(log, "Runtime profile (sum over 2 ranks)", 0), 4, "60.00");
	cell_is(row(log, "Runtime profile (sum over 2 ranks)", 0), 5, "0");
	has_not(log, "e+0");
	free(log);
}
END_TEST

/* 400 ms on the one rank that calls f: nothing above the mean of its callers, all above that of all
 */
START_TEST(imbalances_say_of_which_ranks_they_are)
{
	static const char words[] = "Imbalance[%] is over the ranks that have the call path";
	char *log;

	two_ranks();
	log = summary();
	has_not(log, words);
	free(log);
	p->stacks[find_stack(p, "f<init")].ranks = 1;
	log = summary();
	has(log, words);
	free(log);
}
END_TEST

START_TEST(communication_has_rates_and_its_start_apart)
{
	static const char title[] = "Communication profile (sum over 2 ranks)";
	char *log;

	two_ranks();
	log = summary();
	has(log, "| Sends+recvs | t_mean[ms] | Size[MiB] | Rate[MiB/s] |");
	cell_is(row(log, title, 0), 0, "200");
	cell_is(row(log, title, 0), 1, "5.000");
	cell_is(row(log, title, 0), 2, "3.00");
	cell_is(row(log, title, 0), 3, "600.00");
	cell_is(row(log, "MPI functions (sum over 2 ranks)", 0), 0, "MPI_Sendrecv");
	cell_is(row(log, "MPI functions (sum over 2 ranks)", 1), 0, "MPI_Init");
	has(log, "| Sent[KiB] |");
	free(log);
}
END_TEST

START_TEST(the_list_of_stacks_has_the_order_of_times)
{
	char *log;

	two_ranks();
	assign("profile_table.min_percent=0");
	log = summary();
	in_order(log, (const char *const[]){"Global call stacks:", "f < init", "g < init", NULL});
	free(log);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {no_table_is_wider_than_120_columns,
		wider_ones_are_shown_if_asked_for, numbers_have_units_and_titles_say_what_is_summed,
		imbalances_say_of_which_ranks_they_are, communication_has_rates_and_its_start_apart,
		the_list_of_stacks_has_the_order_of_times};
	Suite *s = suite_create("output-run");
	TCase *c = tcase_create("output-run");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
