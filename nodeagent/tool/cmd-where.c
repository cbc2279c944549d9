/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr where': where all threads of a job are now. */
#include "nodeagent/tool/cmd.h"

#include <stdlib.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/tool/top/answer.h"
#include "nodeagent/tool/top/viewer.h"
#include "nodeagent/tool/where/print.h"

#define PERIOD_LEAST INT64_C(250000000) /* until the first view is there */
#define PERIOD_MOST  INT64_C(3600000000000)
#define PATIENCE_NS  INT64_C(6500000000)  /* those that do not answer are missed before */
#define WRITING_NS   INT64_C(20000000000) /* what flight recorders keep */

static const char usage[] =
	"usage: vftr where [OPTIONS]\n"
	"\n"
	"Shows where every thread of a traced job is now: a tree of call paths with the ranks\n"
	"that are there, since when, and who has not come to a collective call. It does not stop\n"
	"the job, which may run, hang, be stopped or have lost ranks.\n"
	"\n"
	"  -s, --session NAME  the job of this session; default: $VFTR_SESSION, else the only\n"
	"                      one on this node\n"
	"      --at CONTACT    ask the agent of this contact, over TCP, from anywhere\n"
	"      --secret FILE   the file with the agents' secret, for --at; default:\n"
	"                      ~/.vftr-secret\n"
	"  -d, --every TIME    again each TIME, at least 0.25 s, until the job ends\n"
	"      --record        also have all nodes write what their flight recorders keep (see\n"
	"                      sampling.keep in vftr-config(5)), and say what they have done\n"
	"  -j, --json          as JSON; with --every a line each time\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done; 1 there is no agent, or it shows or writes nothing; 2 wrong usage.\n";

static void show_where(const struct viewer *w, const struct live_view *v, bool json, bool once)
{
	where_sort(w->where);
	if (json)
		where_json(stdout, w, v, once);
	else
		where_text(stdout, w, v);
	if (!once && !json)
		putchar('\n');
	fflush(stdout);
}

static bool has_all_nodes(const struct viewer *w, const struct live_view *v)
{
	return w->agents && w->where->nodes + (uint64_t)v->n_absent >= w->agents;
}

/* What is asked of flight recorders is done or refused, if anything is. */
static bool is_answered(const struct viewer *w, const struct live_view *v)
{
	char *text = NULL;
	const bool is = !w->record || record_answer(w, v, &text) != ANSWER_AWAITED;

	free(text);
	return is;
}

/* The first view that has all nodes and all answers, or the last one before our patience ends.
 * *seen: there was one. */
static enum viewer_news wait_for_all(struct viewer *w, struct live_view *v, bool *seen, char **why)
{
	const int64_t until = viewer_now() + PATIENCE_NS + (w->record ? WRITING_NS : 0);
	enum viewer_news news = VIEWER_NOTHING;

	while (news <= VIEWER_NOTHING && viewer_now() < until + w->patience) {
		news = viewer_next(w, w->period, v, why);
		if (news != VIEWER_VIEW || !w->where->nodes)
			continue;
		*seen = true;
		if (has_all_nodes(w, v) && is_answered(w, v))
			break;
	}
	return news;
}

/* On stderr if it is bad news; as JSON it is there already. Exit status. */
static int say_answer(const struct viewer *w, const struct live_view *v, bool json)
{
	enum answer answer;
	char *text;

	if (!w->record)
		return 0;
	answer = record_answer(w, v, &text);
	if (answer != ANSWER_WRITTEN)
		complain("where: %s", text);
	else if (!json)
		printf("%s\n", text);
	free(text);
	return answer == ANSWER_REFUSED || !v->request.nodes[REQUEST_WRITTEN];
}

/* Until the job ends. */
static enum viewer_news show_again(
	struct viewer *w, struct live_view *v, int64_t every, bool json, char **why)
{
	enum viewer_news news = VIEWER_NOTHING;
	int64_t due = viewer_now() + every;

	w->period = every;
	while (news <= VIEWER_NOTHING && !ferror(stdout)) {
		news = viewer_next(w, w->period, v, why);
		if (news != VIEWER_VIEW || !w->where->nodes || viewer_now() < due - every / 10)
			continue;
		due = viewer_now() + every;
		show_where(w, v, json, false);
	}
	return news;
}

static int watch_job(struct viewer *w, int64_t every, bool json)
{
	struct live_view *v = xcalloc(1, sizeof(*v));
	bool seen = false;
	char *why = NULL;
	enum viewer_news news = wait_for_all(w, v, &seen, &why);
	int status = !seen;

	if (seen) {
		show_where(w, v, json, !every);
		status = say_answer(w, v, json);
		if (every && news <= VIEWER_NOTHING)
			news = show_again(w, v, every, json, &why);
		status |= news == VIEWER_REFUSED;
	} else if (!why) {
		complain("where: the agent of session `%s' %s", w->session,
			news == VIEWER_END ? "has ended" : "shows nothing");
	}
	if (why)
		complain("where: %s", why);
	free(why);
	free(v);
	return status;
}

int cmd_where(int argc, char **argv)
{
	int64_t every = 0;
	struct viewer_place place = {0};
	bool json = false, record = false;
	const struct cmd_option options[] = {
		{"session", 's', .text = &place.session},
		{"at", 0, .text = &place.at},
		{"secret", 0, .text = &place.secret},
		{"every", 'd', .time = &every},
		{"record", 0, .flag = &record},
		{"json", 'j', .flag = &json},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);
	struct where *where;
	struct viewer w;
	char *error;

	if (status >= 0)
		return status;
	if (optind < argc || (every && every < PERIOD_LEAST) || every > PERIOD_MOST) {
		complain(optind < argc ? "where takes no argument; see vftr where --help"
				       : "where: --every is a time from 0.25 s to an hour");
		return 2;
	}
	if (place.secret && !place.at) {
		complain("where: --secret is for --at, an agent of another node");
		return 2;
	}
	where = xcalloc(1, sizeof(*where));
	error = viewer_open(&w, &place, PERIOD_LEAST, where);
	if (error)
		complain("where: %s", error);
	else if (record)
		viewer_record(&w);
	status = error ? 1 : watch_job(&w, every, json);
	free(error);
	viewer_close(&w);
	free(where);
	return status;
}
