/* SPDX-License-Identifier: BSD-3-Clause */
/* What ran, when and where, what is missing, and what is worth mending. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/page/internal.h"

bool page_head_has(const struct pages *p)
{
	return value_kind(p->root) == VALUE_OBJECT;
}

/* behind: what stands behind the number, or NULL. */
static void put_fact(
	struct html *h, const char *what, const char *exact, const char *shown, const char *behind)
{
	html_open(h, "div", NULL);
	html_element(h, "dt", what, NULL);
	html_open(h, "dd", NULL);
	if (exact)
		html_element(h, "data", shown, "value", exact, NULL);
	else
		html_text(h, shown);
	if (behind)
		html_text(h, behind);
	html_close(h);
	html_close(h);
}

static void put_efficiency(struct html *h, const struct pages *p)
{
	const struct value *e = page_member(p, "efficiency");
	const struct value *v = value_member(p->all, e, "parallel");
	char exact[VALUE_DIGITS], *shown = xasprintf("%.1f %%", 100.0 * value_real(v));

	if (value_exact(v, exact))
		put_fact(h, "Parallel efficiency", exact, shown, NULL);
	free(shown);
}

struct fact {
	const char *what, *key;
	const char *of; /* another number of which its part is told, or NULL */
};

static void put_number(struct html *h, const struct pages *p, const struct fact *fact)
{
	const struct value *v = page_member(p, fact->key);
	const double part = value_real(v) / (fact->of ? page_number(p, fact->of) : 0.0);
	char exact[VALUE_DIGITS], *shown, *behind;

	if (!value_exact(v, exact))
		return;
	shown = words_of_number(fact->key, v);
	behind = isfinite(part) ? xasprintf(", %.1f %%", 100.0 * part) : NULL;
	put_fact(h, fact->what, exact, shown, behind);
	free(behind);
	free(shown);
}

/* To the minute; all of 2026-11-26T18:11:35+00:00 is in the title. */
static void put_started(struct html *h, const char *time)
{
	enum { MINUTE = sizeof("2026-11-26T18:11") - 1 };
	char *text = xstrdup(time), *t = strchr(text, 'T');

	if (t)
		*t = ' ';
	if (t && strlen(text) > MINUTE)
		text[MINUTE] = '\0';
	html_open(h, "div", NULL);
	html_element(h, "dt", "Started", NULL);
	html_open(h, "dd", NULL);
	html_element(h, "time", text, "datetime", time, "title", time, NULL);
	html_close(h);
	html_close(h);
	free(text);
}

static void put_facts(struct html *h, const struct pages *p)
{
	const struct value *started = page_member(p, "started");
	const struct value *time = value_member(p->all, started, "time");
	static const struct fact numbers[] = {
		{"Runtime", "runtime_s"},
		{"Ranks", "ranks"},
		{"Processes", "processes"},
		{"Threads", "threads"},
		{"Nodes", "nodes"},
		{"Cost of tracing, in hooks", "hooks_s", "runtime_s"},
		{"Waits for room in rings", "blocked_s"},
		{"Calls", "calls"},
		{"Calls that were lost", "lost"},
	};

	html_open(h, "dl", "class", "facts", NULL);
	put_efficiency(h, p);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		put_number(h, p, &numbers[i]);
	if (time)
		put_started(h, value_text(p->all, time));
	put_fact(h, "Traced by", NULL, value_text(p->all, page_member(p, "package")), NULL);
	html_close(h);
}

static void put_warnings(struct html *h, const struct pages *p)
{
	const struct value *warnings = page_member(p, "warnings");

	if (!value_count(warnings))
		return;
	html_element(h, "h2", "What is missing or not normal", NULL);
	html_open(h, "ul", "class", "warnings", NULL);
	for (const struct value *v = value_first(p->all, warnings); v; v = value_next(p->all, v))
		html_element(h, "li", value_text(p->all, v), NULL);
	html_close(h);
}

/* Where more is told of what a rule found. */
static const char *page_of(const char *rule)
{
	static const struct {
		const char *rule, *page;
	} pages[] = {
		{"load_balance", "#balance"},
		{"node_balance", "#balance"},
		{"late_rank", "#waits"},
		{"waits", "#waits"},
		{"late_sender", "#waits"},
		{"small_messages", "#communication"},
		{"communication", "#communication"},
		{"openmp_wait", "#openmp"},
		{"openmp_lock", "#waits"},
		{"openmp_idle", "#openmp"},
		{"gpu_wait", "#gpu"},
		{"mpi_io", "#io"},
		{"io", "#io"},
		{"agent_behind", "#nodes"},
		{"oversubscribed", "#nodes"},
		{"clock", "#nodes"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		if (!strcmp(pages[i].rule, rule))
			return pages[i].page;
	return "#time";
}

static void put_evidence(struct html *h, const struct pages *p, const struct value *evidence)
{
	list_details(h, "Evidence");
	list_members(h, p->all, evidence, "Numbers that prove it");
	html_close(h);
}

static void put_finding(struct html *h, const struct pages *p, const struct value *finding)
{
	const char *rule = value_text(p->all, value_member(p->all, finding, "rule"));

	html_open(h, "li", NULL);
	html_open(h, "p", NULL);
	html_element(h, "a", value_text(p->all, value_member(p->all, finding, "text")), "href",
		page_of(rule), NULL);
	html_close(h);
	html_open(h, "p", NULL);
	html_text(h, value_text(p->all, value_member(p->all, finding, "try")));
	html_format(h, " See vftr-analysis(7), %s.",
		value_text(p->all, value_member(p->all, finding, "manual")));
	html_close(h);
	put_evidence(h, p, value_member(p->all, finding, "evidence"));
	html_close(h);
}

void page_head_print(struct html *h, const struct pages *p)
{
	const struct value *findings = page_member(p, "findings");

	put_facts(h, p);
	put_warnings(h, p);
	html_element(h, "h2", "Findings", NULL);
	if (!value_count(findings)) {
		html_element(h, "p",
			"No rule of vftr-analysis(7) has found anything worth mending.", NULL);
		return;
	}
	html_open(h, "ol", "class", "findings", NULL);
	for (const struct value *v = value_first(p->all, findings); v; v = value_next(p->all, v))
		put_finding(h, p, v);
	html_close(h);
}
