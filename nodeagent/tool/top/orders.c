/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/orders.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/viewer.h"

/* Those that do not answer are missed after 2.5 periods; the rest is for a busy machine. */
#define PERIODS_MOST 6
#define MORE_NS	     INT64_C(5000000000)
#define FOUND_VIEWS  4 /* in which a function that is called would be there ... */
#define PAUSED_VIEWS 8 /* ... and processes would have paused */
#define NAMED_MOST   8 /* nodes that do not answer */

/* Nodes that have it, by a view. */
static uint32_t have_it(const struct live_view *v, const char *name, bool off)
{
	const struct live_off *o = off_named(v, name);
	const uint32_t have_off = o ? o->nodes : 0;

	return off ? have_off : v->n_all - (have_off < v->n_all ? have_off : v->n_all);
}

/* What a view says of it. True: all nodes have it, but for those that have ended. */
static bool is_ordered(
	const struct viewer *w, const struct live_view *v, const char *name, bool off)
{
	return viewer_is_complete(w, v) && !viewer_misses_some(v) &&
	       have_it(v, name, off) >= v->n_all;
}

/* Of an order that all nodes have: a function was found, or all processes have paused; or they
 * would have been by now. */
static bool is_seen(const struct live_view *v, const char *name, bool off, unsigned views)
{
	const struct live_off *o = off_named(v, name);

	if (!off || !o)
		return true;
	return name[0] ? o->functions || views > FOUND_VIEWS
		       : o->functions >= v->processes || views > PAUSED_VIEWS;
}

static void say_pause(const struct live_view *v, bool off)
{
	const struct live_off *o = off_named(v, "");

	if (off)
		printf("recording is paused on %" PRIu32 " %s, in %" PRIu32 " of %" PRIu32 " %s\n",
			o->nodes, one_or_many(o->nodes, "node", "nodes"), o->functions,
			v->processes, one_or_many(v->processes, "process", "processes"));
	else
		printf("recording goes on on %" PRIu32 " %s\n", v->n_all,
			one_or_many(v->n_all, "node", "nodes"));
}

static void say_function(const struct live_view *v, const char *name, bool off)
{
	const struct live_off *o = off_named(v, name);

	if (!off)
		printf("%s is recorded on %" PRIu32 " %s\n", name, v->n_all,
			one_or_many(v->n_all, "node", "nodes"));
	else if (!o->functions)
		printf("%s will be off when it is called: it has not been called since, or has "
		       "another name\n",
			name);
	else
		printf("%s is off on %" PRIu32 " %s\n", name, o->nodes,
			one_or_many(o->nodes, "node", "nodes"));
}

/* Those that do not answer come first. */
static size_t count_silent(const struct live_view *v)
{
	size_t n = 0;

	while (n < v->n_missing && v->missing[n].why == LIVE_SILENT)
		n++;
	return n;
}

/* What a full list has no room for is what it ends with; else they are behind silent ones. */
static uint32_t count_ended(const struct live_view *v, size_t silent)
{
	if (silent == v->n_missing)
		return 0;
	return (uint32_t)((v->n_missing < LIVE_MISSING_MAX ? v->n_missing : v->n_absent) - silent);
}

char *order_partly(const struct viewer *w, const struct live_view *v, const char *name, bool off)
{
	const size_t silent = count_silent(v);
	const uint32_t ended = count_ended(v, silent);
	const uint32_t nodes = w->agents > ended ? w->agents - ended : 0;
	const bool others = silent > NAMED_MOST || v->n_absent > silent + ended;
	char *text = xasprintf("%s %s on %" PRIu32 " of %" PRIu32 " %s;",
		name[0] ? name : "recording",
		name[0] ? (off ? "is off" : "is recorded") : (off ? "is paused" : "goes on"),
		have_it(v, name, off), nodes, one_or_many(nodes, "node", "nodes"));
	char *longer;

	for (size_t i = 0; i < silent && i < NAMED_MOST; i++) {
		const struct live_missing *m = &v->missing[i];
		const char *comma = i ? "," : "";

		longer = m->host[0] ? xasprintf("%s%s %s", text, comma, m->host)
				    : xasprintf("%s%s agent %" PRIu32, text, comma, m->agent);
		free(text);
		text = longer;
	}
	longer = xasprintf("%s%s %s", text,
		!others	 ? ""
		: silent ? " and others"
			 : " others",
		silent == 1 && !others ? "does not answer" : "do not answer");
	free(text);
	return longer;
}

static void say_partly(
	const struct viewer *w, const struct live_view *v, const char *name, bool off)
{
	char *text = order_partly(w, v, name, off);

	complain("top: %s", text);
	free(text);
}

int order_function(struct viewer *w, struct live_view *v, const char *name, bool off)
{
	const int64_t until = viewer_now() + PERIODS_MOST * w->period + MORE_NS;
	const uint64_t stamp = viewer_stamp();
	enum viewer_news news = VIEWER_NOTHING;
	bool done = false;
	char *why = NULL;

	for (unsigned seen = 0; viewer_now() < until + w->patience;) {
		news = viewer_next(w, w->period, v, &why);
		if (news > VIEWER_NOTHING)
			break;
		if (news == VIEWER_NOTHING)
			continue;
		done = seen++ && is_ordered(w, v, name, off);
		if (done && is_seen(v, name, off, seen))
			break;
		viewer_switch(w, name, off, stamp);
	}
	if (!done && !why && viewer_misses_some(v))
		say_partly(w, v, name, off);
	else if (!done)
		complain("top: %s", why ?: "not all nodes have answered");
	else if (name[0])
		say_function(v, name, off);
	else
		say_pause(v, off);
	free(why);
	return !done;
}
