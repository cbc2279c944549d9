/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/counters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/calltree.h"
#include "nodeagent/counter-events.h"
#include "nodeagent/gather-mpi.h"
#include "nodeagent/process.h"
#include "nodeagent/profile-mpi.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "shm/atomic.h"

/* ---- what is wanted ----------------------------------------------------------------- */

static void resolve(
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
	const struct conf_counters *list = &c->hwprof_counters;

	if (!c->hwprof_active)
		return w;
	for (size_t i = 0; i < list->n && i < COUNTERS_MAX; i++)
		resolve(c->hwprof_type, list->at[i].hwc_name, &w->wanted.at[i], &w->of[i]);
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

static bool reads_energy(const struct process *p)
{
	const struct counters_shm *s = control_counters(p->control);

	for (uint32_t i = 0; i < s->n; i++)
		if (s->at[i].source == COUNTER_ENERGY)
			return true;
	return false;
}

void counters_ask(const struct agent *a, struct process *p)
{
	struct counters_shm *s = control_counters(p->control);
	bool taken = false;

	for (const struct process *q = a->live; q && !taken; q = q->next_live)
		taken = q != p && q->control && !q->ended && reads_energy(q);
	*s = a->counters->wanted;
	for (uint32_t i = 0; taken && i < s->n; i++)
		if (s->at[i].source == COUNTER_ENERGY)
			s->at[i].source = COUNTER_NONE;
}

/* ---- what became of it -------------------------------------------------------------- */

static void say_missing(const struct counter_watch *w, const struct conf *c, FILE *f)
{
	const char *before = "Not counted, and 0 in the tables: ";

	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct counter_sum *s = &w->of[i];

		if (!s->why && !s->error)
			continue;
		fprintf(f, "%s%s (%s", before, c->hwprof_counters.at[i].hwc_name,
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
		fprintf(f, "%s%s (%.1f %% of the time)", before, c->hwprof_counters.at[i].hwc_name,
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
			fprintf(f, "%s%s", before, c->hwprof_counters.at[i].hwc_name);
			before = ", ";
		}
}

void counters_warn(struct agent *a)
{
	static void (*const say[])(const struct counter_watch *, const struct conf *, FILE *) = {
		say_missing, say_user_only, say_shared};

	for (size_t i = 0; i < ARRAY_SIZE(say); i++) {
		char *text = NULL;
		size_t bytes = 0;
		FILE *f = open_memstream(&text, &bytes);

		if (!f)
			return;
		say[i](a->counters, a->conf, f);
		if (!fclose(f) && bytes)
			agent_warn(a, false, "%s.", text);
		free(text);
	}
	if (a->conf->hwprof_active && a->conf->hwprof_counters.n > COUNTERS_MAX)
		agent_warn(a, false, "Of hwprof.counters only the first %u are counted.",
			COUNTERS_MAX);
}

/* ---- into a profile ----------------------------------------------------------------- */

void counters_gather(const struct agent *a, struct profile *out)
{
	const struct counter_watch *w = a->counters;

	if (!w)
		return;
	for (uint32_t i = 0; i < out->n_counters; i++)
		free(out->counters[i].name);
	free(out->counters);
	out->n_counters = w->wanted.n;
	out->counters = xcalloc(w->wanted.n, sizeof(*out->counters));
	for (uint32_t i = 0; i < w->wanted.n; i++) {
		const struct conf_counter *c = &a->conf->hwprof_counters.at[i];

		out->counters[i] = (struct profile_counter){.number = i,
			.source = w->wanted.at[i].source,
			.enabled_ns = w->of[i].enabled_ns,
			.running_ns = w->of[i].running_ns,
			.name = xasprintf("%s %s", c->symbol, c->hwc_name)};
	}
}

void counters_gather_tree(struct profile *out, struct calltree *tree, const uint32_t *place)
{
	size_t n = calltree_nodes(tree), more = 0;

	if (!out->n_counters)
		return;
	for (size_t i = 0; i < n; i++) {
		const struct node *from = calltree_at(tree, i);

		more += from->extra && from->extra->counters ? from->extra->counters->n : 0;
	}
	out->counts = xrealloc(out->counts, (out->n_counts + more) * sizeof(*out->counts) + 1);
	for (size_t i = 0; i < n; i++) {
		const struct node *from = calltree_at(tree, i);
		const struct node_counters *c = from->extra ? from->extra->counters : NULL;

		for (uint32_t k = 0; c && k < c->n; k++)
			if (c->of[k])
				out->counts[out->n_counts++] = (struct profile_count){
					.stack = place[i], .counter = k, .value = c->of[k]};
	}
}

void counters_gather_store(struct profile *out, const uint32_t *id)
{
	const struct profile_list *l = profile_lists;

	for (size_t i = 0; i < out->n_counts; i++)
		out->counts[i].stack = id[out->counts[i].stack];
	while (l->array != offsetof(struct profile, counts))
		l++;
	gather_combine(out, l);
}
