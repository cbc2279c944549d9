/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for all that prints a profile, for clang -fsanitize=fuzzer: a random
 * profile, with the fuzzer's bytes as names and as the choice of options. The JSON
 * must be JSON, no cell may break the frame of its table or be no number.
 */
#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/report/output.h"
#include "nodeagent/base/table.h"
#include "t/unit/profile/random-profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static char dir[64];

/* Takes up to n bytes. */
static uint64_t take(const uint8_t **data, size_t *bytes, size_t n)
{
	uint64_t value = 0;

	for (; n && *bytes; n--, (*bytes)--)
		value = value << 8 | *(*data)++;
	return value;
}

static void rename_all(struct profile *p, const uint8_t *data, size_t bytes)
{
	for (size_t i = 0; bytes && i < p->n_names; i++) {
		size_t n = (size_t)take(&data, &bytes, 1);

		if (p->stacks[0].parent == PROFILE_NONE && !strcmp(p->names[i], "init"))
			continue;
		if (n > bytes)
			n = bytes;
		free(p->names[i]);
		p->names[i] = strndup((const char *)data, n);
		data += n;
		bytes -= n;
	}
}

static void choose(struct conf *c, uint64_t bits)
{
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const struct conf_option *o = &conf_options[i];

		if (o->type == CONF_BOOL) {
			*(bool *)((char *)c + o->offset) = bits & 1;
			bits = bits >> 1 | bits << 63;
		}
	}
	c->name_grouped_profile_table_max_stack_ids = (long long)(bits % 5);
}

static char *slurp(const char *name)
{
	char *path = xasprintf("%s/%s", dir, name), *text;
	FILE *f = fopen(path, "r");
	struct stat st;

	free(path);
	if (!f)
		return NULL;
	if (fstat(fileno(f), &st))
		abort();
	text = xcalloc((size_t)st.st_size + 1, 1);
	if (fread(text, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		abort();
	fclose(f);
	return text;
}

/* With names of our own, nothing that printf says of a number that is none. */
static void check_numbers(const char *name)
{
	char *text = slurp(name);

	if (strstr(text, "nan ") || strstr(text, "inf ") || strstr(text, "-nan"))
		abort();
	free(text);
}

static void check_json(void)
{
	char *text = slurp("x_all.json");
	cJSON *json = cJSON_Parse(text);

	if (!json)
		abort();
	cJSON_Delete(json);
	free(text);
}

/* Lines of a table, which begin with '+' or '|', are all as wide as the first. */
static void check_frames(const char *name)
{
	char *text = slurp(name), *rest = text, *line;
	size_t width = 0;

	while ((line = strsep(&rest, "\n"))) {
		size_t columns = text_columns(line);

		if (*line != '+' && *line != '|')
			width = 0;
		else if (!width)
			width = columns;
		else if (width != columns)
			abort();
	}
	free(text);
}

/* Counters, a clock, and numbers as large as they get. */
static void embellish(struct profile *p, struct dice *dice)
{
	uint32_t n = throw_dice(dice, 3);

	for (uint32_t i = 0; i < n; i++) {
		struct profile_counter *c = ADD_ELEMENT(p, counters);

		c->number = i;
		c->source = throw_dice(dice, 4);
		c->enabled_ns = throw_dice(dice, 3);
		c->running_ns = throw_dice(dice, 3);
		c->name = xasprintf("s%u NAME %u", i, i);
	}
	for (uint32_t i = 0; n && i < p->n_stacks; i++) {
		struct profile_count *c;

		if (throw_dice(dice, 2))
			continue;
		c = ADD_ELEMENT(p, counts);
		c->stack = i;
		c->counter = throw_dice(dice, n);
		c->value = throw_dice(dice, 2) ? UINT64_MAX : throw_dice(dice, 1000);
	}
	if (throw_dice(dice, 2))
		p->agents[0].missing = true;
	p->agents[0].clock.state = throw_dice(dice, 4);
	if (throw_dice(dice, 2)) {
		p->agents = xrealloc(p->agents, 2 * sizeof(*p->agents));
		p->agents[p->n_agents++] = (struct profile_agent){.host = xstrdup("other"),
			.clock = {.state = PROFILE_CLOCK_COMPARED,
				.offset_ns = throw_dice(dice, 2) ? INT64_MAX : 5,
				.offset_end_ns = throw_dice(dice, 2) ? INT64_MIN : -5,
				.to_ns = throw_dice(dice, 2) ? INT64_MAX : 0,
				.error_ns = throw_dice(dice, 2) ? UINT64_MAX : 0,
				.bursts = throw_dice(dice, 2),
				.checks = throw_dice(dice, 2),
				.jumps = throw_dice(dice, 2)}};
	}
	if (!throw_dice(dice, 4))
		p->agents[0].clock.offset_ns = INT64_MIN;
	for (uint32_t i = 0; !throw_dice(dice, 3) && i < p->n_stacks; i++) {
		struct profile_stack *s = &p->stacks[i];

		s->calls = s->lost_calls = s->excl_ns = s->incl_ns = s->excl_max_ns = UINT64_MAX;
		s->excl_sumsq_ns2 = (unsigned __int128)-1;
	}
	for (uint32_t i = 0; !throw_dice(dice, 3) && i < p->n_messages; i++) {
		struct profile_messages *m = &p->messages[i];

		m->sends = throw_dice(dice, 2);
		m->receives = UINT64_MAX;
		m->send_bandwidth = m->receive_bandwidth = (unsigned __int128)-1;
	}
	if (!throw_dice(dice, 4))
		p->runtime_s = 0.0;
}

static void set(struct conf *c, const char *key, const char *value)
{
	char *error;

	if (conf_set(c, key, value, &error))
		free(error);
}

/* Choices by dice; the fuzzer's bytes as the formula and the titles of observables. */
static void choose_words(struct conf *c, struct dice *dice, const uint8_t *data, size_t bytes)
{
	static const char *const sorts[] = {"time_excl", "time_incl", "calls", "stack_id",
		"overhead", "none", "messages", "send_size", "recv_size", "send_bw", "recv_bw",
		"comm_time", "time", "memcpy", "cbid"};
	static const char *const formulas[] = {
		"deviation", "max_mean", "idle", "variation", "range", "balance"};
	static const char *const keys[] = {"profile_table.sort_table.column",
		"name_grouped_profile_table.sort_table.column", "mpi.sort_table.column",
		"cuda.sort_table.column"};
	struct conf_list *o = &c->hwprof_observables;
	size_t half = bytes / 2;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		set(c, keys[i], sorts[throw_dice(dice, ARRAY_SIZE(sorts))]);
	set(c, "profile_table.imbalance_formula", formulas[throw_dice(dice, ARRAY_SIZE(formulas))]);
	set(c, "profile_table.threads", throw_dice(dice, 2) ? "all" : "summary");
	set(c, "hwprof.counters",
		"[{\"hwc_name\": \"NAME 0\", \"symbol\": \"s0\"}, "
		"{\"hwc_name\": \"NAME 1\", \"symbol\": \"s1\"}]");
	o->observables = xcalloc(2, sizeof(*o->observables));
	o->n = 2;
	for (size_t i = 0; i < 2; i++) {
		o->observables[i].name = strndup((const char *)data, half);
		o->observables[i].formula =
			i ? xstrdup("s0/s1") : strndup((const char *)data + half, half);
		o->observables[i].unit = strndup((const char *)data, i ? half : 0);
	}
}

static void leave(void)
{
	char *command = xasprintf("rm -rf %s", dir);

	if (system(command))
		fprintf(stderr, "%s is left\n", dir);
	free(command);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct dice dice = {take(&data, &bytes, 4)};
	struct conf *c = conf_default();
	struct profile *p;
	char *error;

	if (!dir[0]) {
		/* no disk has to be waited for */
		strcpy(dir,
			access("/dev/shm", W_OK) ? "/tmp/f-log.XXXXXX" : "/dev/shm/f-log.XXXXXX");
		if (!mkdtemp(dir) || atexit(leave))
			abort();
	}
	choose(c, take(&data, &bytes, 8));
	p = random_profile(&dice, 0, throw_dice(&dice, 40), UINT64_MAX);
	embellish(p, &dice);
	choose_words(c, &dice, data, bytes);
	rename_all(p, data, bytes);
	if (output_summary(p, c, dir, "x", &error) ||
		output_node(p, c, dir, "x", "h", NULL, NULL, 0, &error))
		abort();
	check_json();
	check_frames("x_all.log");
	check_frames("x_node_h.log");
	if (!bytes)
		check_numbers("x_all.log");
	if (p->n_processes) {
		if (output_rank(p, &p->processes[0], 1, c, dir, "x", NULL, 0, &error))
			abort();
	}
	profile_free(p);
	conf_free(c);
	return 0;
}
