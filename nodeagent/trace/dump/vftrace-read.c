/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file is read in the order in which it is printed. Only call stacks are kept, so
 * that memory does not grow with the number of samples.
 */
#include "nodeagent/trace/dump/vftrace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

#define TEXT_MOST     (1 << 20)
#define COUNTERS_MOST 65536

struct stack {
	int caller;
	char *name;
};

struct classic {
	FILE *in;
	bool bad; /* it ended, or made no sense */
	char *package, *dates[2];
#define LONG(name)   long name;
#define INT(name)    int name;
#define COUNT(name)  unsigned name;
#define DOUBLE(name) double name;
	CLASSIC_NUMBERS(LONG, INT, COUNT, DOUBLE)
	struct stack *path; /* by number */
	size_t n, cap;	    /* those that could be read */
	long long *values;
};

static void get(struct classic *c, void *to, size_t bytes)
{
	if (c->bad || fread(to, 1, bytes, c->in) != bytes) {
		memset(to, 0, bytes);
		c->bad = true;
	}
}

static int get_int(struct classic *c)
{
	int value;

	get(c, &value, sizeof(value));
	return value;
}

static long get_long(struct classic *c)
{
	long value;

	get(c, &value, sizeof(value));
	return value;
}

/* Reads so many bytes and adds a NUL; replaces control characters. */
static char *get_chars(struct classic *c, int bytes)
{
	char *raw, *plain;

	if (bytes < 0 || bytes > TEXT_MOST)
		c->bad = true;
	if (c->bad || !bytes)
		return xstrdup("");
	raw = xcalloc((size_t)bytes + 1, 1);
	get(c, raw, (size_t)bytes);
	plain = text_plain(raw);
	free(raw);
	return plain;
}

static char *get_text(struct classic *c)
{
	return get_chars(c, get_int(c));
}

static void go_to(struct classic *c, long at)
{
	if (at < 0 || fseek(c->in, at, SEEK_SET))
		c->bad = true;
}

bool classic_is(FILE *in)
{
	struct classic c = {.in = in};
	bool is = get_int(&c) == CLASSIC_VERSION;
	char *package = get_text(&c);

	is = is && !c.bad && !strncmp(package, "Vftrace", 7);
	free(package);
	rewind(in);
	return is;
}

static void read_header(struct classic *c)
{
	int bytes;

	get_int(c);
	c->package = get_text(c);
	bytes = get_int(c);
	for (int i = 0; i < 2; i++)
		c->dates[i] = get_chars(c, bytes);
#define GET(name) get(c, &c->name, sizeof(c->name));
	CLASSIC_NUMBERS(GET, GET, GET, GET)
	if (c->counters > COUNTERS_MOST)
		c->bad = true;
}

static void print_header(const struct classic *c, FILE *out)
{
	fprintf(out, "Version ID:      %s\n", c->package);
	fprintf(out, "Start Date:      %s\n", c->dates[0]);
	fprintf(out, "End Date:        %s\n", c->dates[1]);
	fprintf(out, "Processes:       %d of %d\n", c->rank, c->processes);
	fprintf(out, "Threads:         %d\n", c->threads);
	fprintf(out, "Sample interval: %e seconds\n", (double)c->interval_ns * 1e-9);
	fprintf(out, "Job runtime:     %.3f seconds\n", c->runtime);
	fprintf(out, "Samples:         %" PRIu64 "\n", (uint64_t)c->functions + c->messages);
	fprintf(out, "   Function:     %u\n", c->functions);
	fprintf(out, "   Messages:     %u\n", c->messages);
	fprintf(out, "Unique stacks:   %u\n", c->stacks);
	fprintf(out, "HW counters:     %u\n", c->counters);
	fprintf(out, "HW observables:  %u\n", c->observables);
	fprintf(out, "Stacks offset:   0x%lx\n", (unsigned long)c->stacks_at);
	fprintf(out, "Sample offset:   0x%lx\n", (unsigned long)c->samples_at);
	fprintf(out, "Thread offset:   0x%lx\n", (unsigned long)c->threads_at);
	fprintf(out, "HWprof offset:   0x%lx\n", (unsigned long)c->hardware_at);
}

/* Prints each thread below the one that made it, which has a smaller number. */
static void print_threads(struct classic *c, FILE *out)
{
	int *depth = NULL;
	size_t cap = 0, n = 0;

	fprintf(out, "\nThreadtree:\n");
	go_to(c, c->threads_at);
	for (int i = 0; !c->bad && i < c->threads; i++) {
		int parent = get_int(c), deep = parent >= 0 && parent < i ? depth[parent] + 1 : 0;

		if (c->bad)
			break;
		*APPEND(depth, n, cap) = deep;
		fprintf(out, "%*s%d\n", 2 * (deep < 64 ? deep : 64), "", i);
	}
	free(depth);
}

static void read_stacks(struct classic *c)
{
	go_to(c, c->stacks_at);
	while (!c->bad && c->n < c->stacks) {
		int caller = get_int(c);
		char *name = get_text(c);

		if (caller >= (int)c->n || caller < -1)
			c->bad = true;
		if (c->bad) {
			free(name);
			break;
		}
		*APPEND(c->path, c->n, c->cap) = (struct stack){caller, name};
	}
}

static void print_stack(const struct classic *c, int stack, FILE *out)
{
	if (stack < 0 || (size_t)stack >= c->n) {
		fputs("(unknown)", out);
		return;
	}
	for (; stack >= 0; stack = c->path[stack].caller)
		fprintf(out, "%s%s", c->path[stack].name, c->path[stack].caller < 0 ? "" : "<");
}

static void print_call(struct classic *c, bool enter, FILE *out)
{
	int stack = get_int(c);
	double s = (double)get_long(c) * 1e-9;

	get(c, c->values, c->counters * sizeof(*c->values));
	if (c->bad)
		return;
	fprintf(out, "%16.6f", s);
	for (unsigned i = 0; i < c->counters; i++)
		fprintf(out, " %lld", c->values[i]);
	fputs(enter ? " call " : " exit ", out);
	print_stack(c, stack, out);
	putc('\n', out);
}

static void print_message(struct classic *c, FILE *out)
{
	const char *direction = get_int(c) ? "recv" : "send";
	int peer = get_int(c), type = get_int(c), count = get_int(c), size = get_int(c);
	int tag = get_int(c);
	double from = (double)get_long(c) * 1e-9, to = (double)get_long(c) * 1e-9;
	int stack = get_int(c), thread = get_int(c);

	if (c->bad)
		return;
	fprintf(out, "%16.6f %s in stackID %d from threadID %d\n", from, direction, stack, thread);
	fprintf(out, "%16s count=%d type=%s(%dBytes) rate= %8.4f MiB/s peer=%d tag=%d\n", "", count,
		vfd_mpitype_classic(type), size,
		to > from ? (double)count * size / (to - from) / 1048576.0 : 0.0, peer, tag);
	fprintf(out, "%16.6f %s end\n", to, direction);
}

static void print_samples(struct classic *c, FILE *out)
{
	uint64_t n = (uint64_t)c->functions + c->messages;

	fprintf(out, "\nStack and message samples:\n");
	c->values = xcalloc(c->counters + 1, sizeof(*c->values));
	go_to(c, c->samples_at);
	for (; n && !c->bad; n--) {
		int kind = get_int(c);

		if (kind == 2)
			print_message(c, out);
		else if (kind == 0 || kind == 1)
			print_call(c, kind == 0, out);
		else
			c->bad = true;
	}
}

static void print_hardware(struct classic *c, FILE *out)
{
	char *text[3];

	go_to(c, c->hardware_at);
	for (unsigned i = 0; !c->bad && i < c->counters; i++) {
		text[0] = get_text(c);
		text[1] = get_text(c);
		if (!c->bad)
			fprintf(out, "%s%s -> %s\n", i ? "" : "\n", text[0], text[1]);
		free(text[0]);
		free(text[1]);
	}
	for (unsigned i = 0; !c->bad && i < c->observables; i++) {
		for (int k = 0; k < 3; k++)
			text[k] = get_text(c);
		if (!c->bad)
			fprintf(out, *text[2] ? "%s%s: %s [%s]\n" : "%s%s: %s\n", i ? "" : "\n",
				text[0], text[1], text[2]);
		for (int k = 0; k < 3; k++)
			free(text[k]);
	}
}

/* Was this part damaged? The next one may be whole. */
static bool next_part(struct classic *c)
{
	bool bad = c->bad;

	c->bad = false;
	return bad;
}

bool classic_dump(FILE *in, const struct classic_dump *d, FILE *out, char **error)
{
	struct classic c = {.in = in};
	bool damaged;

	*error = NULL;
	read_header(&c);
	print_header(&c, out);
	damaged = c.bad;
	if (!d->only_header && !damaged) {
		if (d->threadtree)
			print_threads(&c, out);
		damaged |= next_part(&c);
		read_stacks(&c);
		damaged |= next_part(&c);
		fprintf(out, "\nStacks list:\n");
		for (size_t i = 0; i < c.n; i++) {
			fprintf(out, "   %zu: ", i);
			print_stack(&c, (int)i, out);
			putc('\n', out);
		}
		if (!d->skip_samples)
			print_samples(&c, out);
		damaged |= next_part(&c);
		print_hardware(&c, out);
		damaged |= c.bad;
	}
	if (damaged)
		*error = xstrdup("it is damaged or cut short; the rest is there");
	for (size_t i = 0; i < c.n; i++)
		free(c.path[i].name);
	free(c.path);
	free(c.values);
	free(c.package);
	free(c.dates[0]);
	free(c.dates[1]);
	return !damaged;
}
