/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr top`: what a job does, while it runs. */
#include "nodeagent/tool/cmd.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/print.h"
#include "nodeagent/tool/top/shares.h"
#include "nodeagent/tool/top/terminal.h"
#include "nodeagent/tool/top/viewer.h"
#include "nodeagent/tool/top/watch.h"
#include "shm/wire.h"

#define PERIOD_NS    INT64_C(1000000000)
#define PERIOD_LEAST INT64_C(250000000)
#define PERIOD_MOST  INT64_C(3600000000000)

/* Those that do not answer are missed after 2.5 periods; the rest is for a busy machine. */
#define PERIODS_MOST 6
#define MORE_NS	     INT64_C(5000000000)
#define FOUND_VIEWS  4 /* in which a function that is called would be there */

static const char usage[] =
	"usage: vftr top [OPTIONS]\n"
	"\n"
	"Shows what a job does while it runs, by the agent of this node: where the time goes on\n"
	"all nodes, the ranks that work most, the call paths with the most time. The job is not\n"
	"stopped or slowed. Without a viewer nothing of this is computed. In a terminal it is a\n"
	"screen: q quits, ? lists the keys.\n"
	"\n"
	"  -s, --session NAME  of this session (default: $VFTR_SESSION, or the only one here)\n"
	"  -d, --every TIME    a view each TIME, 1 s unless given; at least 0.25 s\n"
	"  -1, --once          one view, of all nodes, and end\n"
	"  -j, --json          as JSON; without --once a line for each view\n"
	"      --off NAME      record the function of this name no more, on all nodes, and end\n"
	"      --on NAME       record it again\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done; 1 there is no agent, or it shows nothing; 2 wrong usage.\n";

struct wish {
	bool once, json;
};

static void show_view(const struct viewer *w, const struct live_view *v, const struct wish *wish)
{
	if (wish->json)
		view_json(stdout, w, v, wish->once);
	else
		view_text(stdout, w, v);
	fflush(stdout);
}

/* A line for each view, until the job ends. */
static int show_all(struct viewer *w, struct live_view *v, const struct wish *wish)
{
	enum viewer_news news;
	int64_t due = 0;
	char *why = NULL;

	while ((news = viewer_next(w, w->period, v, &why)) <= VIEWER_NOTHING && !ferror(stdout))
		if (news == VIEWER_VIEW && view_is_due(w, &due))
			show_view(w, v, wish);
	if (why)
		complain("top: %s", why);
	free(why);
	return news == VIEWER_REFUSED;
}

/* The first view that has all nodes, or the last one before our patience ends. */
static int show_once(struct viewer *w, struct live_view *v, const struct wish *wish)
{
	struct live_view *latest = xcalloc(1, sizeof(*latest));
	const int64_t until = viewer_now() + PERIODS_MOST * w->period + MORE_NS;
	enum viewer_news news = VIEWER_NOTHING;
	bool seen = false;
	char *why = NULL;

	while (viewer_now() < until + w->patience) {
		news = viewer_next(w, w->period, latest, &why);
		if (news > VIEWER_NOTHING)
			break;
		if (news == VIEWER_NOTHING)
			continue;
		*v = *latest;
		seen = true;
		if (viewer_is_complete(w, v))
			break;
	}
	free(latest);
	if (seen)
		show_view(w, v, wish);
	else if (why)
		complain("top: %s", why);
	else
		complain("top: the agent of session `%s' %s", w->session,
			news == VIEWER_END ? "has ended" : "shows nothing");
	free(why);
	return !seen;
}

/* What a view says of it. True: all nodes have it. */
static bool is_switched(
	const struct viewer *w, const struct live_view *v, const char *name, bool off)
{
	const struct live_off *o = off_named(v, name);

	return viewer_is_complete(w, v) && (off ? o && o->nodes >= v->n_all : !o);
}

static void say_switched(const struct live_view *v, const char *name, bool off)
{
	const struct live_off *o = off_named(v, name);

	if (!off)
		printf("%s is recorded on %" PRIu32 " %s\n", name, v->n_all,
			one_or_many(v->n_all, "node", "nodes"));
	else if (!o->functions)
		printf("%s will be off when it is called; it has not been, or has another name\n",
			name);
	else
		printf("%s is off on %" PRIu32 " %s\n", name, o->nodes,
			one_or_many(o->nodes, "node", "nodes"));
}

/* Says it again until all nodes have it; of `off', until a function was found, for a while. */
static int switch_function(struct viewer *w, struct live_view *v, const char *name, bool off)
{
	const int64_t until = viewer_now() + PERIODS_MOST * w->period + MORE_NS;
	enum viewer_news news = VIEWER_NOTHING;
	bool done = false;
	char *why = NULL;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	for (unsigned seen = 0; viewer_now() < until + w->patience;) {
		news = viewer_next(w, w->period, v, &why);
		if (news > VIEWER_NOTHING)
			break;
		if (news == VIEWER_NOTHING)
			continue;
		done = seen++ && is_switched(w, v, name, off);
		if (done && (!off || off_named(v, name)->functions || seen > FOUND_VIEWS))
			break;
		viewer_switch(w, name, off,
			(uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec);
	}
	if (done)
		say_switched(v, name, off);
	else
		complain("top: %s", why ?: "not all nodes have answered");
	free(why);
	return !done;
}

static bool wrong_names(const char *off, const char *on)
{
	const char *name = off ?: on;

	if (off && on)
		complain("top: --off and --on are two commands");
	else if (name && (!name[0] || strlen(name) >= WIRE_FUNCTION_MAX))
		complain("top: the name of a function has 1 to %u bytes", WIRE_FUNCTION_MAX - 1);
	else
		return false;
	return true;
}

int cmd_top(int argc, char **argv)
{
	int64_t period = PERIOD_NS;
	const char *session = NULL, *off = NULL, *on = NULL;
	struct wish wish = {0};
	const struct cmd_option options[] = {
		{"session", 's', .text = &session},
		{"every", 'd', .time = &period},
		{"once", '1', .flag = &wish.once},
		{"json", 'j', .flag = &wish.json},
		{"off", 0, .text = &off},
		{"on", 0, .text = &on},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);
	const struct terminal_kind kind = terminal_kind();
	struct live_view *v;
	struct viewer w;
	char *error;

	if (status >= 0)
		return status;
	if (optind < argc || period < PERIOD_LEAST || period > PERIOD_MOST) {
		complain(optind < argc ? "top takes no argument; see vftr top --help"
				       : "top: --every is a time from 0.25 s to an hour");
		return 2;
	}
	if (wrong_names(off, on))
		return 2;
	if (!wish.once && !wish.json && !off && !on && !kind.there) {
		complain(
			"top: stdout is no terminal; for one view there is --once, for all --json");
		return 2;
	}
	error = viewer_open(&w, session, period, NULL);
	if (error) {
		complain("top: %s", error);
		free(error);
		viewer_close(&w);
		return 1;
	}
	v = xcalloc(1, sizeof(*v));
	if (off || on)
		status = switch_function(&w, v, off ?: on, off != NULL);
	else if (wish.once)
		status = show_once(&w, v, &wish);
	else if (wish.json)
		status = show_all(&w, v, &wish);
	else
		status = watch_job(&w, &kind);
	free(v);
	viewer_close(&w);
	return status;
}
