/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the table of rules over a profile; sorts what they find, and keeps the first few. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/json-write.h"

#define ROUNDING    (1.0 + 1e-9)
#define DOUBTS_MOST 2 /* so many findings about the numbers keep their place */

const char *const findings_nothing =
	"Nothing to mend found: no rule of vftr-analysis(7) saw a loss above its threshold, and "
	"the data are complete.";

struct candidate {
	struct finding f;
	bool is_doubt;
	size_t row; /* of the table */
};

static void gather_facts(struct facts *facts, const struct report *r)
{
	double idle_s = 0.0;

	*facts = (struct facts){.r = r,
		.p = r->p,
		.d = digest_of(r),
		.all_s = r->excl_s,
		.latest = latest_of(r->p)};
	facts->has_efficiency = efficiency_of(r->p, &facts->e) && facts->e.is_job;
	/* what ranks waited for when one of them was dead says nothing of the program */
	facts->is_cut = facts->has_efficiency && facts->e.doubts >> DOUBT_KILLED & 1;
	/* idle workers are in the call tree only if they are shown as functions */
	for (size_t i = 0; i < r->p->n_rank_times; i++)
		idle_s += s_of(r->p->rank_times[i].all_openmp_idle_ns);
	if (!facts->d.frames_show_idle)
		facts->all_s += idle_s;
	/* of processes that were seen from outside the call tree has the CPU time alone */
	if (s_of(r->p->cpu.wall_ns) > ROUNDING * facts->all_s)
		facts->all_s = s_of(r->p->cpu.wall_ns);
}

/* What is equal but for rounding is at the threshold. */
static bool is_worth(const struct facts *facts, const struct rule *rule, const struct finding *f)
{
	return rule->share <= 0.0 ||
	       (facts->all_s > 0.0 && f->seconds * ROUNDING >= rule->share * facts->all_s);
}

static size_t apply_rules(struct facts *facts, struct candidate *found)
{
	struct finding *all = xcalloc(n_finding_rules, sizeof(*all));
	size_t n = 0;

	facts->found = all;
	for (size_t i = 0; i < n_finding_rules; i++) {
		const struct rule *rule = &finding_rules[i];
		struct finding f = {.seconds = NAN};

		if (!rule->look(facts, &f) || !is_worth(facts, rule, &f)) {
			finding_drop(&f);
			continue;
		}
		f.rule = rule->name;
		f.section = rule->section;
		if (!f.advice)
			f.advice = xstrdup(rule->advice);
		found[n] = (struct candidate){.f = f, .is_doubt = rule->is_doubt, .row = i};
		all[n++] = f;
		facts->n_found = n;
	}
	free(all);
	return n;
}

static double weight_of(const struct candidate *c)
{
	return isnan(c->f.seconds) ? -1.0 : c->f.seconds;
}

ORDER_BY(by_seconds, struct candidate, ORDER(weight_of(y), weight_of(x)) ?: RISING(row))

/* The first ones; but the first doubts stay, and the least of the others make room for them. */
static void choose_first(struct findings *all, struct candidate *found, size_t n)
{
	size_t doubts = 0, room = FINDINGS_MOST;

	for (size_t i = 0; i < n; i++)
		doubts += found[i].is_doubt;
	if (doubts < n) /* there are others, too */
		room -= doubts < DOUBTS_MOST ? doubts : DOUBTS_MOST;
	room = n - doubts < room ? n - doubts : room;
	doubts = FINDINGS_MOST - room;
	for (size_t i = 0; i < n; i++) {
		size_t *places = found[i].is_doubt ? &doubts : &room;

		if (!*places) {
			finding_drop(&found[i].f);
			all->left++;
			continue;
		}
		--*places;
		all->at[all->n++] = found[i].f;
	}
}

struct findings findings_of(const struct report *r)
{
	struct candidate *found = xcalloc(n_finding_rules, sizeof(*found));
	struct findings all = {.n = 0};
	struct facts facts;
	size_t n;

	gather_facts(&facts, r);
	n = apply_rules(&facts, found);
	qsort(found, n, sizeof(*found), by_seconds);
	choose_first(&all, found, n);
	all.all_s = facts.all_s;
	free(found);
	return all;
}

void findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++)
		finding_drop(&f->at[i]);
	f->n = 0;
}

double finding_percent(const struct findings *all, const struct finding *f)
{
	return all->all_s > 0.0 ? 100.0 * f->seconds / all->all_s : NAN;
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void put_evidence(struct json *j, const struct finding *f)
{
	json_object(j, "evidence");
	EACH(const struct evidence, e, f->evidence, f->n_evidence) {
		switch (e->kind) {
		case EVIDENCE_COUNT:
			json_uint(j, e->key, e->count);
			break;
		case EVIDENCE_SECONDS:
		case EVIDENCE_RATIO:
			json_real(j, e->key, e->real);
			break;
		case EVIDENCE_TEXT:
			json_string(j, e->key, e->text);
			break;
		}
	}
	json_close(j);
}

void findings_json(struct json *j, const struct findings *all)
{
	json_array(j, "findings");
	EACH(const struct finding, f, all->at, all->n) {
		json_object(j, NULL);
		json_string(j, "rule", f->rule);
		json_string(j, "text", f->text);
		json_real(j, "seconds", f->seconds);
		json_real(j, "percent", finding_percent(all, f));
		put_evidence(j, f);
		json_string(j, "try", f->advice);
		json_string(j, "manual", f->section);
		json_close(j);
	}
	json_close(j);
}
