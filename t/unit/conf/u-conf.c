/* SPDX-License-Identifier: BSD-3-Clause */
/* The configuration: what is accepted, what is refused and with which words. */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "t/lib/suite.h"

/* What Vftrace itself writes for a user to start from. */
static const char vftrace_default[] = "{\n"
				      "   \"off\": false,\n"
				      "   \"output_directory\": \".\",\n"
				      "   \"outfile_basename\": null,\n"
				      "   \"logfile_for_ranks\": \"none\",\n"
				      "   \"print_config\": true,\n"
				      "   \"strip_module_names\": false,\n"
				      "   \"demangle_cxx\": false,\n"
				      "   \"include_cxx_prelude\": false,\n"
				      "   \"profile_table\": {\n"
				      "      \"show_table\": true,\n"
				      "      \"show_calltime_imbalances\": false,\n"
				      "      \"show_callpath\": false,\n"
				      "      \"show_overhead\": false,\n"
				      "      \"show_minmax_summary\": false,\n"
				      "      \"sort_table\": {\n"
				      "         \"column\": \"time_excl\",\n"
				      "         \"ascending\": false\n"
				      "      }\n"
				      "   },\n"
				      "   \"stacklist\": {\n"
				      "      \"show_stacklist\": true\n"
				      "   },\n"
				      "   \"name_grouped_profile_table\": {\n"
				      "      \"show_table\": false,\n"
				      "      \"max_stack_ids\": 8,\n"
				      "      \"sort_table\": {\n"
				      "         \"column\": \"time_excl\",\n"
				      "         \"ascending\": false\n"
				      "      }\n"
				      "   },\n"
				      "   \"sampling\": {\n"
				      "      \"active\": false,\n"
				      "      \"sample_interval\": 0.005000,\n"
				      "      \"outbuffer_size\": 8,\n"
				      "      \"precise_functions\": null\n"
				      "   },\n"
				      "   \"mpi\": {\n"
				      "      \"show_table\": true,\n"
				      "      \"log_messages\": true,\n"
				      "      \"match\": true,\n"
				      "      \"only_for_ranks\": \"all\",\n"
				      "      \"show_sync_time\": false,\n"
				      "      \"show_callpath\": false,\n"
				      "      \"sort_table\": {\n"
				      "         \"column\": \"none\",\n"
				      "         \"ascending\": false\n"
				      "      }\n"
				      "   },\n"
				      "   \"cuda\": {\n"
				      "      \"show_table\": true,\n"
				      "      \"sort_table\": {\n"
				      "         \"column\": \"time\",\n"
				      "         \"ascending\": false\n"
				      "      }\n"
				      "   },\n"
				      "   \"hwprof\": {\n"
				      "      \"type\": \"dummy\",\n"
				      "      \"active\": true,\n"
				      "      \"show_observables\": true,\n"
				      "      \"show_counters\": false,\n"
				      "      \"show_summary\": false,\n"
				      "      \"sort_by_column\": 0,\n"
				      "      \"default_scenario\": \"\",\n"
				      "      \"counters\": [\n"
				      "      ],\n"
				      "      \"observables\": [\n"
				      "      ]\n"
				      "   }\n"
				      "}\n";

#define LOG_BYTES 16384
static char warnings[LOG_BYTES];

static const struct conf_reading silent = {.lenient = true};

static void note(const char *line, void *unused)
{
	size_t n = strlen(warnings);

	snprintf(warnings + n, LOG_BYTES - n, "%s\n", line);
}

/* NULL if text is refused; *error is then its text. */
static struct conf *load_as(const char *text, bool lenient, char **error)
{
	const struct conf_reading how = {.lenient = lenient, .warn = note};
	struct conf *c;
	int e;

	warnings[0] = '\0';
	e = conf_load_text(&c, "f", text, strlen(text), error, &how);
	ck_assert_int_eq(e, c ? 0 : -1);
	ck_assert((c != NULL) == (*error == NULL));
	return c;
}

static struct conf *load(const char *text, char **error)
{
	return load_as(text, true, error);
}

static struct conf *good(const char *text)
{
	char *error;
	struct conf *c = load(text, &error);

	ck_assert_msg(c != NULL, "refused: %s", error);
	return c;
}

static char *printed(const struct conf *c)
{
	char *s;
	size_t bytes;
	FILE *f = open_memstream(&s, &bytes);

	conf_print(c, f);
	fclose(f);
	return s;
}

START_TEST(defaults)
{
	struct conf *c = conf_default();

	ck_assert(!c->off);
	ck_assert(c->print_config);
	ck_assert_str_eq(c->output_directory, ".");
	ck_assert_ptr_null(c->outfile_basename);
	ck_assert_str_eq(c->profile_table_sort_table_column, "time_excl");
	ck_assert_int_eq(c->name_grouped_profile_table_max_stack_ids, 8);
	ck_assert(c->sampling_sample_interval == 0.005);
	ck_assert_uint_eq(c->sampling_max_size, 0);
	ck_assert_uint_eq(c->shm_ring_size, 4 << 20);
	ck_assert_str_eq(c->shm_when_full, "block");
	ck_assert_str_eq(c->agent_cpu, "auto");
	ck_assert(isnan(c->overhead_budget_percent));
	ck_assert_uint_eq(c->hwprof_counters.n, 0);
	conf_free(c);
}
END_TEST

START_TEST(fields_are_named_as_paths)
{
	static const char *const fields[] = {
#define NAME(type, field, ...) #field,
		CONF_OPTIONS(NAME)
#undef NAME
	};

	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		char *path = strdup(conf_options[i].path);

		for (char *s = path; *s; s++)
			*s = *s == '.' ? '_' : *s;
		ck_assert_str_eq(path, fields[i]);
		free(path);
	}
}
END_TEST

START_TEST(default_comes_back)
{
	struct conf *a = conf_default(), *b;
	char *first = printed(a), *second;

	b = good(first);
	second = printed(b);
	ck_assert_str_eq(warnings, "");
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
	conf_free(a);
	conf_free(b);
}
END_TEST

START_TEST(changed_comes_back)
{
	static const char text[] =
		"{ \"outfile_basename\": \"a\\\"\\\\\\n\\u00e9\\ud83d\\ude00\\u007f\","
		"\"sampling\": {\"sample_interval\": 1e-9, \"max_size\": 1500000,"
		"  \"precise_functions\": \"^MPI_|[a]]+\"},"
		"\"shm\": {\"ring_size\": \"64k\"},"
		"\"memory\": {\"large\": 0},"
		"\"agent\": {\"cpu\": 3, \"linger_s\": 0.1},"
		"\"overhead\": {\"budget_percent\": 12.345678901234567},"
		"\"hwprof\": {\"counters\": [{\"hwc_name\": \"x\", \"symbol\": \"a\"},"
		"  {\"symbol\": \"b\", \"hwc_name\": \"y\"}],"
		" \"observables\": [{\"name\": \"n\", \"formula\": \"a/T\"},"
		"  {\"name\": \"m\", \"formula\": \"b\", \"unit\": \"GB / s\"}]}}";
	struct conf *a = good(text), *b;
	char *first = printed(a), *second;

	ck_assert_uint_eq(a->shm_ring_size, 65536);
	ck_assert_str_eq(a->agent_cpu, "3");
	ck_assert_str_eq(a->hwprof_counters.counters[1].hwc_name, "y");
	ck_assert_str_eq(a->hwprof_observables.observables[0].unit, "");
	ck_assert_str_eq(a->hwprof_observables.observables[1].unit, "GB / s");
	b = good(first);
	second = printed(b);
	ck_assert_str_eq(first, second);
	ck_assert_str_eq(a->outfile_basename, b->outfile_basename);
	ck_assert(a->sampling_sample_interval == b->sampling_sample_interval);
	ck_assert(a->overhead_budget_percent == b->overhead_budget_percent);
	ck_assert_uint_eq(b->sampling_max_size, 1500000);
	ck_assert_uint_eq(b->memory_large, 0);
	free(first);
	free(second);
	conf_free(a);
	conf_free(b);
}
END_TEST

START_TEST(vftrace_default_is_accepted)
{
	struct conf *a = conf_default(), *b = good(vftrace_default);
	char *first, *second;

	/* the only other defaults: names are readable, and stack samples are shown by function */
	ck_assert(!b->demangle_cxx);
	b->demangle_cxx = true;
	ck_assert_int_eq(b->name_grouped_profile_table_show_table, 0);
	b->name_grouped_profile_table_show_table = CONF_AUTO;
	first = printed(a);
	second = printed(b);
	ck_assert_str_eq(warnings, "");
	ck_assert_str_eq(first, second);
	free(first);
	free(second);
	conf_free(a);
	conf_free(b);
}
END_TEST

/* Its lines stand in ours, in the same order. */
START_TEST(default_looks_like_vftrace)
{
	struct conf *c = conf_default();
	char *ours, *at, *text = strdup(vftrace_default), *rest = text, *line;

	c->demangle_cxx = false;
	c->name_grouped_profile_table_show_table = false;
	ours = at = printed(c);
	while ((line = strsep(&rest, "\n")) && strcmp(line, "}")) {
		size_t n = strcspn(line, ",");

		line[n] = '\0';
		at = strstr(at, line);
		ck_assert_msg(at != NULL, "not found in order: %s", line);
		at += n;
	}
	free(text);
	free(ours);
	conf_free(c);
}
END_TEST

static const struct {
	const char *text, *error;
} refused[] = {
	{"", "f:1: the file is empty; {} is the least"},
	{"\n\n", "f:3: the file is empty; {} is the least"},
	{"{\n\n", "f:3: the file ends before the '{' of line 1 is closed"},
	{"{\n\"mpi\": {\n\n", "f:4: the file ends before the '{' of line 2 is closed"},
	{"{\n\"off\": tru\n}", "f:2: \"tru\" is not a value of JSON; strings stand in \"\""},
	{"{\n\"off\": true,\n}", "f:3: there is a ',' too many before the '}'"},
	{"{\n\"off\": true\n\"mpi\": {}\n}", "f:3: a ',' is missing before this key"},
	{"{\n\"off\" true}", "f:2: a ':' after the key is expected, not \"true\""},
	{"{\n\"off\" \"true\"}", "f:2: a ':' after the key is expected, not the string \"true\""},
	{"{\n// no\n\"off\": true}", "f:2: JSON has no comments"},
	{"{\n/* no */\"off\": true}", "f:2: JSON has no comments"},
	{"{\n\"off\": true # no\n}", "f:2: JSON has no comments"},
	{"{\n'off': true}", "f:2: a key in \"\" is expected; JSON has no strings in single quotes"},
	{"{off: true}", "f:1: a key in \"\" is expected, not \"off\""},
	{"{\n\"off\": 01}", "f:2: \"01\" is not a number of JSON"},
	{"{\n\"off\": 1.}", "f:2: \"1.\" is not a number of JSON"},
	{"{\n\"off\": }", "f:2: a value is expected, not \"}\""},
	{"{}\n{}", "f:2: \"{\" stands behind the end of the configuration"},
	{"{\n\"off\": \"a\nb\"}", "f:2: the string is not closed on its line"},
	{"{\n\"off\": \"a\tb\"}", "f:2: a string holds the control character \\x09"},
	{"{\n\"off\": \"\\x\"}", "f:2: \"\\x\" is not an escape of JSON"},
	{"{\n\"off\": \"\\u0000\"}", "f:2: \"\\u0000\" can't be part of a string"},
	{"{\n\"off\": \"\\ud800\"}", "f:2: \"\\ud800\" is one half of a character"},
	{"{\n\"off\": \"\xff\"}", "f:2: the byte \\xff is not text (UTF-8)"},
	{"[\n]", "f:1: a list is not a configuration, which is an object {...}"},
	{"{\n\"off\": \"yes\"}", "f:2: off: \"yes\" is not true or false"},
	{"{\n\"off\": null}", "f:2: off: null is not true or false"},
	{"{\n\"OFF\":\n1}", "f:3: off: 1 is not true or false"},
	{"{\n\"mpi\": true}", "f:2: mpi: true is not an object {...} of keys"},
	{"{\n\"output_directory\": null}", "f:2: output_directory: null is not a string"},
	{"{\n\"outfile_basename\": 1}", "f:2: outfile_basename: 1 is not a string or null"},
	{"{\"profile_table\": {\n\"sort_table\": {\n\"column\": \"tme\"}}}",
		"f:3: profile_table.sort_table.column: \"tme\" is not one of "
		"time_excl, time_incl, calls, stack_id, overhead, none"},
	{"{\"sampling\": {\n\"outbuffer_size\": 0}}",
		"f:2: sampling.outbuffer_size: 0 is not an integer from 1 to 65536, or a size such "
		"as \"16MiB\""},
	{"{\"sampling\": {\n\"outbuffer_size\": 1.5}}",
		"f:2: sampling.outbuffer_size: 1.5 is not an integer from 1 to 65536, or a size "
		"such "
		"as \"16MiB\""},
	{"{\"sampling\": {\n\"sample_interval\": 1e999}}",
		"f:2: sampling.sample_interval: inf is not a time from 0 to 1000000000 s, such as "
		"2.5 or \"300ms\""},
	{"{\"sampling\": {\n\"max_size\": \"12MB\"}}",
		"f:2: sampling.max_size: \"12MB\" is not a size from 1MiB to 1024TiB, such as "
		"\"64MiB\" or null"},
	{"{\"shm\": {\n\"ring_size\": \"3MiB\"}}", "f:2: shm.ring_size: \"3MiB\" is not a size "
						   "that is a power of two from 32KiB to 1GiB"},
	{"{\"shm\": {\n\"ring_size\": \"16KiB\"}}", "f:2: shm.ring_size: \"16KiB\" is not a size "
						    "that is a power of two from 32KiB to 1GiB"},
	{"{\n\"logfile_for_ranks\": null}",
		"f:2: logfile_for_ranks: null is not \"all\", \"none\" or a list of ranks such as "
		"\"0,2-5\""},
	{"{\"mpi\": {\n\"only_for_ranks\": \"5-2\"}}",
		"f:2: mpi.only_for_ranks: \"5-2\" is not \"all\", \"none\" or a list of ranks such "
		"as "
		"\"0,2-5\": the range 5-2 runs backwards"},
	{"{\"agent\": {\n\"cpu\": \"all\"}}",
		"f:2: agent.cpu: \"all\" is not \"auto\", \"any\" or a list of CPUs such as \"3\" "
		"or "
		"\"0-3,8\": a number from 0 to 1000000000 or a range A-B is expected at \"all\""},
	{"{\"overhead\": {\n\"keep\": \"(\"}}",
		"f:2: overhead.keep: \"(\" is not a POSIX extended regular expression or null: "
		"Unmatched ( or \\("},
	{"{\"overhead\": {\n\"keep\": \"((a{200}){200}){200}\"}}",
		"f:2: overhead.keep: \"((a{200}){200}){200}\" is not a POSIX extended regular "
		"expression "
		"or null: its repetitions are too large"},
	{"{\"overhead\": {\n\"keep\": \"(((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+\"}}",
		"f:2: overhead.keep: \"(((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+\" is not a POSIX "
		"extended regular "
		"expression or null: its repetitions are too large"},
	{"{\"overhead\": {\n\"keep\": "
	 "\"((((((((((((a{1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,})+)+)+\"}}",
		"f:2: overhead.keep: "
		"\"((((((((((((a{1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,}){1,})+)+)+\" is not a "
		"POSIX extended regular "
		"expression or null: its repetitions are too large"},
	{"{\"overhead\": {\n\"keep\": \"a{200}{200}\"}}",
		"f:2: overhead.keep: \"a{200}{200}\" is not a POSIX extended regular "
		"expression or null: its repetitions are too large"},
	{"{\"overhead\": {\n\"keep\": \"x{20000}\"}}",
		"f:2: overhead.keep: \"x{20000}\" is not a POSIX extended regular "
		"expression or null: its repetitions are too large"},
	{"{\"overhead\": {\n\"keep\": \"[\\\\1](a*)\\\\1b\"}}",
		"f:2: overhead.keep: \"[\\1](a*)\\1b\" is not a POSIX extended regular expression "
		"or null: it refers back to a group"},
	{"{\"agent\": {\n\"launcher\": \" \"}}", "f:2: agent.launcher: \" \" is not a command"},
	{"{\"hwprof\": {\n\"counters\": {}}}", "f:2: hwprof.counters: an object is not a list of "
					       "{\"hwc_name\": ..., \"symbol\": ...}"},
	{"{\"hwprof\": {\"counters\": [\n{\"hwc_name\": \"a\"}]}}",
		"f:2: hwprof.counters: element 1: \"symbol\" is missing"},
	{"{\"hwprof\": {\"counters\": [\n{\"hwc_name\": \"a\",\n\"symbol\": \"T\"}]}}",
		"f:3: hwprof.counters: element 1: symbol: \"T\" is not a symbol of your own: T is "
		"the "
		"time and CALLS the calls"},
	{"{\"hwprof\": {\"counters\": [{\"hwc_name\": \"a\", \"symbol\": \"a\"},\n"
	 "{\"hwc_name\": \"b\", \"symbol\": \"a\"}]}}",
		"f:2: hwprof.counters: element 2: symbol: the symbol \"a\" is taken by element 1"},
	{"{\"hwprof\": {\"observables\": [\n3]}}",
		"f:2: hwprof.observables: element 1: 3 is not an object"},
	{"{\"hwprof\": {\"observables\": [{\"name\": \"n\",\n\"formula\": 1}]}}",
		"f:2: hwprof.observables: element 1: formula: 1 is not a string"},
	{"{\"hwprof\": {\n\"default_scenario\": \"x\",\n\"counters\": "
	 "[{\"hwc_name\": \"a\", \"symbol\": \"a\"}]}}",
		"f:2: hwprof.default_scenario: it excludes hwprof.counters and hwprof.observables"},
	{"{\"hwprof\": {\n\"sort_by_column\": 1,\n\"observables\": "
	 "[{\"name\": \"n\", \"formula\": \"T\"}]}}",
		"f:2: hwprof.sort_by_column: 1 is not the position of an observable: there are 1, "
		"the "
		"first is 0"},
};

START_TEST(errors_name_line_and_cause)
{
	char *error;

	ck_assert_ptr_null(load(refused[_i].text, &error));
	ck_assert_str_eq(error, refused[_i].error);
	free(error);
}
END_TEST

/* KEY with this value in line 3 of a file: accepted, or refused by FILE:LINE, key and value. */
START_TEST(many_agents_wait_longer)
{
	struct conf *c = conf_default();
	char *error;

	conf_settle_agents(c, 1);
	ck_assert_double_eq(c->agent_deadline_s, 60);
	ck_assert_double_eq(conf_more_s(c), CONF_AGENT_S);
	conf_settle_agents(c, 1000);
	conf_settle_agents(c, 1000);
	ck_assert_double_eq(c->agent_deadline_s, 70);
	ck_assert_double_eq(c->agent_start_s, 70);
	ck_assert_int_eq(conf_assign(c, "agent.deadline_s=5", &error), 0);
	conf_settle_agents(c, 16000);
	ck_assert_double_eq(c->agent_deadline_s, 5);
	ck_assert_double_eq(c->agent_start_s, 220);
	ck_assert_double_eq(conf_more_s(c), 0);
	conf_free(c);
}
END_TEST

START_TEST(run_has_other_defaults)
{
	struct conf *c = good("{\"output\": {\"layout\": \"run\"},"
			      "\"profile_table\": {\"imbalance_formula\": \"idle\"}}");
	char *error;

	ck_assert_int_eq(conf_settle_layout(c), 0);
	ck_assert(c->profile_table_show_calltime_imbalances);
	ck_assert_str_eq(c->profile_table_imbalance_formula, "idle");
	ck_assert_int_eq(c->output_max_columns, 120);
	conf_free(c);

	c = conf_default();
	ck_assert_int_eq(conf_settle_layout(c), 0);
	ck_assert(!c->profile_table_show_calltime_imbalances);
	ck_assert_int_eq(c->output_max_columns, 0);
	ck_assert_int_eq(conf_assign(c, "output.layout=run", &error), 0);
	ck_assert_int_eq(conf_assign(c, "profile_table.show_calltime_imbalances=false", &error), 0);
	ck_assert_int_eq(conf_settle_layout(c), 0);
	ck_assert(!c->profile_table_show_calltime_imbalances);
	ck_assert_str_eq(c->profile_table_imbalance_formula, "max_mean");
	conf_free(c);
}
END_TEST

/* "auto" counts in the profile of a run, and where nothing else needs each call. */
START_TEST(auto_counts_in_a_run)
{
	static const char *const all_timed[] = {"output.layout=vftrace", "sampling.active=true",
		"profile_table.threads=all", "profile_table.threads=summary",
		"overhead.count_tiny=null",
		"hwprof.counters=[{\"hwc_name\": \"x\", \"symbol\": \"x\"}]"};
	struct conf *c = conf_default();
	char *error;

	ck_assert(isnan(conf_count_tiny(c)));
	ck_assert_int_eq(conf_assign(c, "output.layout=run", &error), 0);
	ck_assert(conf_count_tiny(c) == 10);
	ck_assert_int_eq(conf_assign(c, "sampling.active=true", &error), 0);
	ck_assert_int_eq(conf_assign(c, "overhead.count_tiny=2.5", &error), 0);
	ck_assert(conf_count_tiny(c) == 2.5);
	conf_free(c);
	for (size_t i = 0; i < sizeof(all_timed) / sizeof(all_timed[0]); i++) {
		c = conf_default();
		ck_assert_int_eq(conf_assign(c, "output.layout=run", &error), 0);
		ck_assert_int_eq(conf_assign(c, all_timed[i], &error), 0);
		ck_assert_msg(isnan(conf_count_tiny(c)), "%s", all_timed[i]);
		conf_free(c);
	}
}
END_TEST

static bool accepts(const struct conf_option *o, const char *value, const char *shown)
{
	char *text = strdup("{"), *longer, *error, *wanted, path[128];
	int depth = 1;
	struct conf *c;

	strcpy(path, o->path);
	for (char *key = path, *dot; key; key = dot) {
		dot = strchr(key, '.');
		if (dot)
			*dot++ = '\0';
		ck_assert_int_gt(asprintf(&longer, "%s%s\"%s\":%s", text, dot ? "" : "\n\n", key,
					 dot ? "{" : " "),
			0);
		free(text);
		text = longer;
		depth += !!dot;
	}
	ck_assert_int_gt(asprintf(&longer, "%s%s%.*s", text, value, depth, "}}}}}}"), 0);
	c = load(longer, &error);
	if (!c) {
		ck_assert_int_gt(asprintf(&wanted, "f:3: %s: %s is not ", o->path, shown), 0);
		ck_assert_msg(
			!strncmp(error, wanted, strlen(wanted)), "%s, wanted %s", error, wanted);
		free(wanted);
	}
	conf_free(c);
	free(error);
	free(longer);
	free(text);
	return c;
}

START_TEST(every_key_refuses)
{
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const struct conf_option *o = &conf_options[i];
		bool number = o->type == CONF_INT || o->type == CONF_AUTO_INT ||
			      o->type == CONF_DOUBLE || o->type == CONF_AUTO_DOUBLE ||
			      o->type == CONF_TIME || o->type == CONF_SIZE;
		bool list = o->type == CONF_COUNTERS || o->type == CONF_OBSERVABLES;
		char outside[64];

		ck_assert_int_eq(accepts(o, "true", "true"),
			o->type == CONF_BOOL || o->type == CONF_AUTO_BOOL);
		ck_assert_int_eq(accepts(o, "null", "null"), o->null_ok);
		ck_assert_int_eq(accepts(o, "[]", "a list"), list);
		ck_assert(!accepts(o, "{}", "an object"));
		ck_assert(!accepts(o, "-1e30", "-1e+30"));
		ck_assert(!accepts(o, "1e30", "1e+30"));
		ck_assert_int_eq(accepts(o, "\"x y\"", "\"x y\""),
			o->type == CONF_STRING || o->type == CONF_REGEX ||
				o->type == CONF_PATTERNS);
		if (!number)
			continue;
		ck_assert(!accepts(o, "\"many\"", "\"many\""));
		snprintf(outside, sizeof(outside), "%.15g", o->min - 1);
		ck_assert(!accepts(o, outside, outside));
		snprintf(outside, sizeof(outside), "%.15g", o->max * 2);
		ck_assert(!accepts(o, outside, outside));
		if (o->type != CONF_DOUBLE && o->type != CONF_AUTO_DOUBLE && o->type != CONF_TIME)
			ck_assert(!accepts(o, "8.5", "8.5"));
	}
}
END_TEST

START_TEST(changes_beyond_the_file_are_known)
{
	struct conf *c = conf_default();
	char *error;

	ck_assert(!conf_is_changed(c));
	ck_assert_int_eq(conf_set(c, "off", "false", &error), 0);
	ck_assert(!conf_is_changed(c));
	ck_assert_int_eq(conf_set(c, "mpi.sort_table.column", "messages", &error), 0);
	ck_assert(conf_is_changed(c));
	conf_free(c);
	c = good("{\"off\": true, \"sampling\": {\"sample_interval\": 1}}");
	ck_assert(!conf_is_changed(c));
	ck_assert_int_eq(conf_set(c, "sampling.sample_interval", "2", &error), 0);
	ck_assert(conf_is_changed(c));
	conf_free(c);
}
END_TEST

static const struct {
	const char *text, *warnings;
} warned[] = {
	{"{\n\"of\": true}", "f:2: Warning: \"of\" is not a valid vftrace option.\n"
			     "         Did you mean \"off\"?\n"},
	{"{\n\"profile_tabel\": 1}",
		"f:2: Warning: \"profile_tabel\" is not a valid vftrace option.\n"
		"         Did you mean \"profile_table\"?\n"},
	{"{\"mpi\": {\n\"show_tabel\": 1}}",
		"f:2: Warning: \"show_tabel\" is not a valid vftrace option.\n"
		"         Did you mean \"show_table\"?\n"},
	{"{\"cuda\": {\"sort_table\": {\n\"colum\": 1}}}",
		"f:2: Warning: \"colum\" is not a valid vftrace option.\n"
		"         Did you mean \"column\"?\n"},
	{"{\"openacc\": {\n\"activ\": 1,\n\"sort_table\": {\n\"asscending\": 1}}}",
		"f:2: Warning: \"activ\" is not a valid vftrace option.\n"
		"         Did you mean \"active\"?\n"
		"f:4: Warning: \"asscending\" is not a valid vftrace option.\n"
		"         Did you mean \"ascending\"?\n"},
	{"{\"hwprof\": {\"observables\": [{\"name\": \"n\", \"formula\": \"T\",\n\"unti\": 1}]}}",
		"f:2: Warning: \"unti\" is not a valid vftrace option.\n"
		"         Did you mean \"unit\"?\n"},
	{"{\"off\": true,\n\"Off\": false}",
		"f:1: Warning: \"off\" is given again in line 2; the last one counts.\n"},
	{"{\n\n\"\\u001b[2J\": 1}", "f:3: Warning: \"\\x1b[2J\" is not a valid vftrace option.\n"},
	{"{\"x\": 1,\n\"nonsense\": 1}",
		"f:1: Warning: \"x\" is not a valid vftrace option.\n"
		"f:2: Warning: \"nonsense\" is not a valid vftrace option.\n"},
	{"\xef\xbb\xbf{\r\n\"off\": false\r\n}", ""},
};

START_TEST(unknown_keys_are_advised)
{
	struct conf *c = good(warned[_i].text);

	ck_assert_str_eq(warnings, warned[_i].warnings);
	ck_assert(!c->off);
	conf_free(c);
}
END_TEST

START_TEST(unknown_keys_are_refused)
{
	static const struct {
		const char *text, *warnings, *error;
	} cases[] = {
		{"{\n\"of\": true}", "",
			"f:2: \"of\" is not a valid vftrace option; did you mean \"off\"?"},
		{"{\"x\": 1,\n\"nonsense\": 1}", "f:1: \"x\" is not a valid vftrace option\n",
			"f:2: \"nonsense\" is not a valid vftrace option"},
		/* another error is the last word */
		{"{\"x\": 1,\n\"off\": 1}", "f:1: \"x\" is not a valid vftrace option\n",
			"f:2: off: 1 is not true or false"},
		{"{\"hwprof\": {\"counters\": [{\"hwc_name\": \"n\", \"symbol\": \"s\",\n\"x\": "
		 "1}]}}",
			"", "f:2: \"x\" is not a valid vftrace option"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *error;

		ck_assert_ptr_null(load_as(cases[i].text, false, &error));
		ck_assert_str_eq(warnings, cases[i].warnings);
		ck_assert_str_eq(error, cases[i].error);
		free(error);
	}
}
END_TEST

START_TEST(last_section_counts)
{
	struct conf *c =
		good("{\"mpi\": {\"show_table\": false}, \"mpi\": {\"log_messages\": false}}");

	ck_assert(c->mpi_show_table);
	ck_assert(!c->mpi_log_messages);
	conf_free(c);
}
END_TEST

START_TEST(warnings_end)
{
	size_t n = 300, bytes = 0;
	char *text = malloc(n * 9 + 9), *s;
	struct conf *c;
	int lines = 0;

	text[bytes++] = '{';
	for (size_t i = 0; i < n; i++)
		bytes += (size_t)sprintf(text + bytes, "%s\"of\": 1", i ? "," : "");
	strcpy(text + bytes, "}");
	c = good(text);
	for (s = warnings; (s = strchr(s, '\n')); s++)
		lines++;
	ck_assert_int_eq(lines, 201);
	conf_free(c);
	free(text);
}
END_TEST

START_TEST(deep_and_large)
{
	size_t bytes = CONF_FILE_MAX + 1;
	char *text = malloc(bytes), *error;
	struct conf *c;

	memset(text, '[', bytes);
	ck_assert_int_eq(conf_load_text(&c, "f", text, 100000, &error, &silent), -1);
	ck_assert_str_eq(error, "f:1: brackets are nested deeper than 100");
	free(error);
	ck_assert_int_eq(conf_load_text(&c, "f", text, bytes, &error, &silent), -1);
	ck_assert_str_eq(error, "f: the file is larger than 16 MiB");
	free(error);
	free(text);
	ck_assert_int_eq(conf_load_text(&c, "f", "{\n\0}", 4, &error, &silent), -1);
	ck_assert_str_eq(error, "f:2: the byte \\x00 is not text (UTF-8)");
	free(error);
}
END_TEST

START_TEST(unreadable_file)
{
	struct conf *c;
	char *error;

	ck_assert_int_eq(conf_load(&c, "/nonexistent/folder/f", &error, &silent), -1);
	ck_assert_str_eq(
		error, "/nonexistent/folder/f: the file can't be read: No such file or directory");
	free(error);
	ck_assert_int_eq(conf_load(&c, "/", &error, &silent), -1);
	ck_assert_str_eq(error, "/: the file can't be read: Is a directory");
	free(error);
	ck_assert_int_eq(conf_load(&c, "/dev/zero", &error, &silent), -1);
	ck_assert_str_eq(error, "/dev/zero: the file is larger than 16 MiB");
	free(error);
}
END_TEST

/* The same on a command line and, as texts, in a file. */
START_TEST(times_and_sizes_have_units)
{
	static const struct {
		const char *key, *text, *number; /* NULL: refused */
	} cases[] = {
		{"sampling.sample_interval", "5ms", "0.005000"},
		{"sampling.sample_interval", "5 ms", "0.005000"},
		{"sampling.sample_interval", "40us", "0.000040"},
		{"sampling.sample_interval", "7ns", "6.9999999999999998e-09"},
		{"sampling.sample_interval", "1e-3s", "0.001000"},
		{"agent.linger_s", "500ms", "0.500000"},
		{"agent.linger_s", "2min", "120.000000"},
		{"agent.write_every_s", "1.5h", "5400.000000"},
		{"agent.write_every_s", "1d", "86400.000000"},
		{"agent.linger_s", "2m", NULL},
		{"agent.linger_s", "ms", NULL},
		{"agent.linger_s", "0x10s", NULL},
		{"agent.linger_s", "-1s", NULL},
		{"agent.linger_s", "1e400s", NULL},
		{"agent.linger_s", "5ms5", NULL},
		{"agent.linger_s", "nan", NULL},
		{"overhead.budget_percent", "5s", NULL},
		{"shm.ring_size", "64k", "\"64KiB\""},
		{"shm.ring_size", "0.5MiB", "\"512KiB\""},
		{"shm.ring_size", "64KB", NULL},
		{"sampling.outbuffer_size", "16MiB", "16"},
		{"sampling.outbuffer_size", "1GiB", "1024"},
		{"sampling.outbuffer_size", "100KiB", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *key = cases[i].key, *dot = strchr(key, '.');
		enum conf_id id = conf_find(key);
		struct conf *c = conf_default(), *file;
		char *error, *shown, *text;

		ck_assert_int_eq(conf_set(c, key, cases[i].text, &error), cases[i].number ? 0 : -1);
		free(error);
		ck_assert_int_gt(asprintf(&text, "{\"%.*s\": {\"%s\": \"%s\"}}", (int)(dot - key),
					 key, dot + 1, cases[i].text),
			0);
		file = load(text, &error);
		ck_assert((file != NULL) == (cases[i].number != NULL));
		if (file) {
			shown = conf_value_text(c, id);
			ck_assert_str_eq(shown, cases[i].number);
			free(shown);
			shown = conf_value_text(file, id);
			ck_assert_str_eq(shown, cases[i].number);
			free(shown);
		}
		free(error);
		free(text);
		conf_free(file);
		conf_free(c);
	}
}
END_TEST

START_TEST(booleans_have_more_words_on_a_command_line)
{
	static const struct {
		const char *text;
		bool value;
	} cases[] = {{"yes", true}, {"no", false}, {"on", true}, {"off", false}, {"1", true},
		{"0", false}, {"True", true}, {"false", false}};
	struct conf *c = conf_default();
	char *error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c->off = !cases[i].value;
		ck_assert_int_eq(conf_set(c, "off", cases[i].text, &error), 0);
		ck_assert_int_eq(c->off, cases[i].value);
	}
	ck_assert_int_eq(conf_set(c, "off", "2", &error), -1);
	ck_assert_str_eq(error, "off: \"2\" is not true or false");
	free(error);
	conf_free(c);
	ck_assert_ptr_null(load("{\"off\": 1}", &error));
	free(error);
	ck_assert_ptr_null(load("{\"off\": \"yes\"}", &error));
	free(error);
}
END_TEST

START_TEST(command_line)
{
	static const struct {
		const char *key, *value, *error;
	} cases[] = {
		{"off", "true", NULL},
		{"MPI.Show_Table", "false", NULL},
		{"outfile_basename", "x", NULL},
		{"outfile_basename", "null", NULL},
		{"shm.ring_size", "65536", NULL},
		{"agent.cpu", "0-3,8", NULL},
		{"sampling.sample_interval", "1e-3", NULL},
		{"hwprof.counters", "[{\"hwc_name\": \"x\", \"symbol\": \"a\"}]", NULL},
		{"off", "maybe", "off: \"maybe\" is not true or false"},
		{"off", "", "off: \"\" is not true or false"},
		{"output_directory", "\xff",
			"output_directory: \"\\xff\" is not a string: it is not UTF-8"},
		{"sampling.outbuffer_size", "0x10",
			"sampling.outbuffer_size: \"0x10\" is not an integer from 1 to 65536, or "
			"a size such as \"16MiB\""},
		{"hwprof.counters", "[",
			"hwprof.counters: \"[\" is not a list of {\"hwc_name\": ..., \"symbol\": "
			"...}"},
		{"mpi.show_tabel", "1",
			"\"mpi.show_tabel\" is not a valid vftrace option; did you mean "
			"\"mpi.show_table\"?"},
		{"mpii", "1", "\"mpii\" is not a valid vftrace option; did you mean \"mpi\"?"},
		{"nonsense.key", "1", "\"nonsense.key\" is not a valid vftrace option"},
	};
	struct conf *c = conf_default();
	char *error;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int e = conf_set(c, cases[i].key, cases[i].value, &error);

		ck_assert_int_eq(e, cases[i].error ? -1 : 0);
		ck_assert_pstr_eq(error, cases[i].error);
		free(error);
	}
	ck_assert(c->off);
	ck_assert(!c->mpi_show_table);
	ck_assert_ptr_null(c->outfile_basename);
	ck_assert_uint_eq(c->shm_ring_size, 65536);
	ck_assert_str_eq(c->agent_cpu, "0-3,8");
	ck_assert_uint_eq(c->hwprof_counters.n, 1);
	conf_free(c);
}
END_TEST

START_TEST(paths)
{
	struct conf *c = good("{\n\"output_directory\": \"/nonexistent/folder\"}");
	char *error;

	ck_assert_int_eq(conf_check_paths(c, true, &error), -1);
	ck_assert_str_eq(error,
		"f:2: output_directory: \"/nonexistent/folder\" can't be written to: "
		"No such file or directory");
	free(error);
	ck_assert_int_eq(conf_set(c, "output_directory", "/dev/null", &error), 0);
	ck_assert_int_eq(conf_check_paths(c, true, &error), -1);
	ck_assert_str_eq(error,
		"output_directory: \"/dev/null\" can't be written to: it is not a directory");
	free(error);
	ck_assert_int_eq(conf_set(c, "output_directory", "/tmp", &error), 0);
	ck_assert_int_eq(conf_check_paths(c, true, &error), 0);
	conf_free(c);
}
END_TEST

START_TEST(ranks)
{
	ck_assert(rank_list_has("all", 7));
	ck_assert(!rank_list_has("none", 0));
	ck_assert(!rank_list_has(NULL, 0));
	ck_assert(rank_list_has("0,2-5", 0));
	ck_assert(!rank_list_has("0,2-5", 1));
	ck_assert(rank_list_has("0,2-5", 2));
	ck_assert(rank_list_has("0,2-5", 5));
	ck_assert(!rank_list_has("0,2-5", 6));
	ck_assert(rank_list_has("7,1-3,2", 7));
	ck_assert(!rank_list_has("1,", 1));
	ck_assert(rank_list_reaches("all", 7));
	ck_assert(!rank_list_reaches("none", 0));
	ck_assert(!rank_list_reaches(NULL, 0));
	ck_assert(rank_list_reaches("7-9,1", 9));
	ck_assert(!rank_list_reaches("1,7-9", 10));
	ck_assert(!rank_list_has("1x", 1));
	ck_assert(!rank_list_has("99999999999", 1215752191));
}
END_TEST

/* Mutations of a good file: none crashes, what is accepted comes back. */
static void add_tag(struct conf *c, const char *tag, const char *error_has)
{
	char *error = NULL;
	const int e = conf_add_tag(c, tag, &error);

	ck_assert_msg(e == (error_has ? -1 : 0), "%s: %s", tag, error ? error : "good");
	if (error_has)
		ck_assert_msg(strstr(error, error_has) != NULL, "%s", error);
	free(error);
}

START_TEST(patterns)
{
	static const char *const bad[] = {"a,,b", "a,", ",a", "[", "a[]", "a,b[!]", "file:", "x\\"};
	struct conf *c = good("{\"filter\": {\"only\": \"f(int\\\\, *),file:a.c,[]a]\\\\[\"}}");
	const char *list = c->filter_only;
	char *one = conf_next_pattern(&list), *two = conf_next_pattern(&list), *error;
	char *three = conf_next_pattern(&list), *more = conf_add_pattern("a,b", "c,d\\,e\\[");

	ck_assert_str_eq(one, "f(int\\, *)");
	ck_assert_ptr_null(conf_pattern_file(one));
	ck_assert_str_eq(conf_pattern_file(two), "a.c");
	ck_assert_str_eq(three, "[]a]\\[");
	ck_assert_ptr_null(conf_next_pattern(&list));
	ck_assert_ptr_null(conf_pattern_file("file::open"));
	ck_assert_str_eq(more, "a,b,c\\,d\\,e\\[");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(conf_set(c, "filter.not", bad[i], &error), -1);
		free(error);
	}
	ck_assert_int_eq(conf_set(c, "filter.not", more, &error), 0);
	free(one);
	free(two);
	free(three);
	free(more);
	conf_free(c);
}
END_TEST

START_TEST(tags)
{
	static const char *const wanted[] = {"case=small", "n.1-2_x=", "list=a,b=\\", "eq=x=y"};
	char long_key[80] = "", long_value[300] = "a=", *error = NULL, *tag;
	struct conf *c = good("{\"output\": {\"tags\": \"case=small,n.1-2_x=\"}}");
	const char *list;

	add_tag(c, "list=a,b=\\", NULL);
	add_tag(c, "eq=x=y", NULL);
	list = c->output_tags;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		tag = conf_next_tag(&list);
		ck_assert_ptr_nonnull(tag);
		ck_assert_str_eq(tag, wanted[i]);
		free(tag);
	}
	ck_assert_ptr_null(conf_next_tag(&list));
	add_tag(c, "nothing", "\"nothing\" is not of the form KEY=VALUE");
	add_tag(c, "=x", "the key \"\" is not made of letters");
	add_tag(c, "a b=x", "the key \"a b\" is not made of letters");
	add_tag(c, "\033[31m=x", "is not made of letters");
	add_tag(c, "a=\xff", "it is not UTF-8");
	memset(long_key, 'k', 61);
	strcat(long_key, "=x");
	add_tag(c, long_key, "has 61 bytes; 60 are the most");
	memset(long_value + 2, 'v', 257);
	add_tag(c, long_value, "the value of \"a\" has 257 bytes; 256 are the most");
	for (int i = 0; i < 15; i++)
		add_tag(c, long_key + 1 + i * 2, NULL);
	long_value[258] = '\0';
	for (size_t n = strlen(c->output_tags); n + 259 <= CONF_TAGS_MAX; n += 259)
		add_tag(c, long_value, NULL);
	add_tag(c, long_value, "bytes; 4096 are the most");
	ck_assert_int_eq(conf_set(c, "output.tags", "a=1,b", &error), -1);
	ck_assert_msg(strstr(error, "\"b\" is not of the form") != NULL, "%s", error);
	free(error);
	ck_assert_int_eq(conf_set(c, "output.tags", "", &error), 0);
	conf_free(c);
}
END_TEST

START_TEST(mutations)
{
	static const char extra[] = "{}[]\",:\\0-9.eEnulltruefalse\n\x80\xff/*";
	struct conf *d = conf_default();
	char *text = printed(d), *mutant = malloc(strlen(text) + 16);
	uint64_t x = 88172645463325252u;
	unsigned accepted = 0;

	for (int round = 0; round < 3000; round++) {
		size_t bytes = strlen(text);
		struct conf *c;
		char *error;

		memcpy(mutant, text, bytes);
		for (int k = 0; k < 1 + round % 3; k++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			size_t at = x % bytes;

			if (x >> 60 == 0)
				bytes = at + 1;
			else if (x >> 60 < 8)
				mutant[at] = extra[(x >> 20) % sizeof(extra)];
			else if (bytes > 1)
				memmove(mutant + at, mutant + at + 1, --bytes - at);
		}
		if (conf_load_text(&c, "f", mutant, bytes, &error, &silent) == 0) {
			char *first = printed(c), *second;
			struct conf *again = good(first);

			second = printed(again);
			ck_assert_str_eq(first, second);
			free(first);
			free(second);
			conf_free(again);
			accepted++;
		} else {
			ck_assert(strncmp(error, "f:", 2) == 0);
			ck_assert_ptr_null(strchr(error, '\n'));
			free(error);
		}
		conf_free(c);
	}
	ck_assert_uint_gt(accepted, 0);
	free(mutant);
	free(text);
	conf_free(d);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("conf");
	TCase *t = tcase_create("conf");

	tcase_set_timeout(t, 30);
	tcase_add_test(t, defaults);
	tcase_add_test(t, fields_are_named_as_paths);
	tcase_add_test(t, default_comes_back);
	tcase_add_test(t, changed_comes_back);
	tcase_add_test(t, vftrace_default_is_accepted);
	tcase_add_test(t, default_looks_like_vftrace);
	tcase_add_loop_test(t, errors_name_line_and_cause, 0, sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, every_key_refuses);
	tcase_add_test(t, changes_beyond_the_file_are_known);
	tcase_add_loop_test(t, unknown_keys_are_advised, 0, sizeof(warned) / sizeof(warned[0]));
	tcase_add_test(t, unknown_keys_are_refused);
	tcase_add_test(t, last_section_counts);
	tcase_add_test(t, warnings_end);
	tcase_add_test(t, deep_and_large);
	tcase_add_test(t, unreadable_file);
	tcase_add_test(t, times_and_sizes_have_units);
	tcase_add_test(t, booleans_have_more_words_on_a_command_line);
	tcase_add_test(t, command_line);
	tcase_add_test(t, paths);
	tcase_add_test(t, ranks);
	tcase_add_test(t, run_has_other_defaults);
	tcase_add_test(t, many_agents_wait_longer);
	tcase_add_test(t, auto_counts_in_a_run);
	tcase_add_test(t, tags);
	tcase_add_test(t, patterns);
	tcase_add_test(t, mutations);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
