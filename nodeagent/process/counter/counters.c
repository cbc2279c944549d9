/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/counter/counters.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/process/counter/events.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

/* ---- what is wanted ----------------------------------------------------------------- */

static void resolve_counter(
	const char *type, const char *name, struct counter_shm *to, struct counter_sum *sum)
{
	if (!strcmp(type, "dummy")) {
		to->source = COUNTER_DUMMY;
		return;
	}
	if (!counter_io(name, to) || !counter_rusage(name, to))
		return;
	if (!counter_energy(name, to, &sum->why))
		return;
	if (!strcmp(type, "papi")) {
		to->source = COUNTER_PAPI;
		if (strlen(name) < sizeof(to->name))
			strcpy(to->name, name);
		else
			sum->why = xstrdup("its name is too long");
	} else if (!strcmp(type, "perf")) {
		if (!counter_event(name, to, &sum->why))
			sum->error = counter_event_allow(to, &sum->user_only);
	} else {
		sum->why = xasprintf("vftr does not offer hwprof.type %s", type);
	}
	if (sum->why || sum->error)
		*to = (struct counter_shm){.source = COUNTER_NONE};
}

struct counter_watch *counters_new(const struct conf *c)
{
	struct counter_watch *w = xcalloc(1, sizeof(*w));
	const struct conf_list *list = &c->hwprof_counters;

	if (!c->hwprof_active)
		return w;
	for (size_t i = 0; i < list->n && i < COUNTERS_MAX; i++)
		resolve_counter(
			c->hwprof_type, list->counters[i].hwc_name, &w->wanted.at[i], &w->of[i]);
	w->wanted.n = (uint32_t)(list->n < COUNTERS_MAX ? list->n : COUNTERS_MAX);
	return w;
}

void counters_note(struct counter_watch *w, struct ring_producer_shm *ring)
{
	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct counter_state_shm *s = &ring_counters(ring)[i];
		struct counter_sum *sum = &w->of[i];
		int error = load_relaxed(&s->error);

		sum->threads++;
		sum->enabled_ns += load_relaxed(&s->enabled_ns);
		sum->running_ns += load_relaxed(&s->running_ns);
		sum->ways |= load_relaxed(&s->ways);
		if (error) {
			sum->failed++;
			sum->error = error < 0 && error > -4096 ? error : -EIO;
		}
	}
}

bool counters_read_energy(const struct counters_shm *s)
{
	return ANY(i, s->n, s->at[i].source == COUNTER_ENERGY);
}

void counters_ask(const struct counter_watch *w, struct counters_shm *to, bool energy)
{
	*to = w->wanted;
	for (uint32_t i = 0; !energy && i < to->n; i++)
		if (to->at[i].source == COUNTER_ENERGY)
			to->at[i].source = COUNTER_NONE;
}

/* ---- what became of it -------------------------------------------------------------- */

static void say_missing(const struct counter_watch *w, const struct conf *c, FILE *f)
{
	const char *before = "Not counted, and 0 in the tables: ";

	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct counter_sum *s = &w->of[i];

		if (!s->why && !s->error)
			continue;
		fprintf(f, "%s%s (%s", before, c->hwprof_counters.counters[i].hwc_name,
			s->why ? s->why : counter_error(s->error));
		if (s->failed && s->failed < s->threads)
			fprintf(f, "; in %llu of %llu threads", (unsigned long long)s->failed,
				(unsigned long long)s->threads);
		fputc(')', f);
		before = ", ";
	}
}

static void say_shared(const struct counter_watch *w, const struct conf *c, FILE *f)
{
	const char *before = "Counted in turns, and scaled up: ";

	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct counter_sum *s = &w->of[i];

		/* a moment between two readings of the clock is no turn */
		if (s->running_ns + s->enabled_ns / 1000 >= s->enabled_ns)
			continue;
		fprintf(f, "%s%s (%.1f %% of the time)", before,
			c->hwprof_counters.counters[i].hwc_name,
			100.0 * (double)s->running_ns / (double)s->enabled_ns);
		before = ", ";
	}
}

static void say_user_only(const struct counter_watch *w, const struct conf *c, FILE *f)
{
	const char *before =
		"Counted in user mode only (see /proc/sys/kernel/perf_event_paranoid): ";

	for (uint32_t i = 0; i < w->wanted.n; i++)
		if (w->of[i].user_only) {
			fprintf(f, "%s%s", before, c->hwprof_counters.counters[i].hwc_name);
			before = ", ";
		}
}

static void say_too_many(const struct counter_watch *w, const struct conf *c, FILE *f)
{
	if (c->hwprof_active && c->hwprof_counters.n > COUNTERS_MAX)
		fprintf(f, "Of hwprof.counters only the first %u are counted", COUNTERS_MAX);
}

char *counters_trouble(const struct counter_watch *w, const struct conf *c, unsigned i)
{
	static void (*const say[])(const struct counter_watch *, const struct conf *, FILE *) = {
		say_missing, say_user_only, say_shared, say_too_many};
	char *text = NULL;
	size_t bytes = 0;
	FILE *f = i < ARRAY_SIZE(say) ? open_memstream(&text, &bytes) : NULL;

	if (!f)
		return NULL;
	say[i](w, c, f);
	fclose(f);
	return text;
}
