/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr top`: what a job does, while it runs. */
#include "nodeagent/tool/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/orders.h"
#include "nodeagent/tool/top/print.h"
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

static const char usage[] =
	"usage: vftr top [OPTIONS]\n"
	"\n"
	"Shows what a traced job does while it runs: where the time goes on all nodes, the ranks\n"
	"that work most, the call paths with the most time. The job is not stopped. In a terminal\n"
	"it is a screen: q quits, ? lists the keys.\n"
	"\n"
	"  -s, --session NAME  the job of this session; default: $VFTR_SESSION, else the only\n"
	"                      one on this node\n"
	"      --at CONTACT    ask the agent of this contact, over TCP, from anywhere\n"
	"      --secret FILE   the file with the agents' secret, for --at; default:\n"
	"                      ~/.vftr-secret\n"
	"  -d, --every TIME    a view each TIME, at least 0.25 s; default: 1 s\n"
	"  -1, --once          print one view, of all nodes, and end\n"
	"  -j, --json          as JSON; without --once a line for each view\n"
	"      --off NAME      stop recording this function on all nodes, and end\n"
	"      --on NAME       record it again, and end\n"
	"      --pause         stop all recording on all nodes, and end\n"
	"      --resume        record again, and end\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done; 1 there is no agent, it shows nothing, or not all nodes have heard\n"
	"an order; 2 wrong usage.\n";

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

struct order {
	const char *off, *on;
	bool pause, resume;
};

static bool is_ordered(const struct order *o)
{
	return o->off || o->on || o->pause || o->resume;
}

static bool is_wrong(const struct order *o)
{
	const char *name = o->off ?: o->on;

	if ((o->off != NULL) + (o->on != NULL) + o->pause + o->resume > 1)
		complain("top: --off, --on, --pause and --resume are commands of their own");
	else if (name && (!name[0] || strlen(name) >= WIRE_FUNCTION_MAX))
		complain("top: the name of a function has 1 to %u bytes", WIRE_FUNCTION_MAX - 1);
	else
		return false;
	return true;
}

int cmd_top(int argc, char **argv)
{
	int64_t period = PERIOD_NS;
	struct viewer_place place = {0};
	struct wish wish = {0};
	struct order order = {0};
	const struct cmd_option options[] = {
		{"session", 's', .text = &place.session},
		{"at", 0, .text = &place.at},
		{"secret", 0, .text = &place.secret},
		{"every", 'd', .time = &period},
		{"once", '1', .flag = &wish.once},
		{"json", 'j', .flag = &wish.json},
		{"off", 0, .text = &order.off},
		{"on", 0, .text = &order.on},
		{"pause", 0, .flag = &order.pause},
		{"resume", 0, .flag = &order.resume},
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
	if (is_wrong(&order))
		return 2;
	if (place.secret && !place.at) {
		complain("top: --secret is for --at, an agent of another node");
		return 2;
	}
	if (!wish.once && !wish.json && !is_ordered(&order) && !kind.there) {
		complain(
			"top: stdout is no terminal; for one view there is --once, for all --json");
		return 2;
	}
	error = viewer_open(&w, &place, period, NULL);
	if (error) {
		complain("top: %s", error);
		free(error);
		viewer_close(&w);
		return 1;
	}
	v = xcalloc(1, sizeof(*v));
	if (is_ordered(&order))
		status = order_function(&w, v, order.off ?: order.on ?: "", order.off || order.pause);
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
