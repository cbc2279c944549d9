/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/tool/top/viewer.h"

static const struct {
	const char *name, *why;
} states[] = {
#define STATE_ROW(state, name, why) [REQUEST_##state] = {name, why},
	REQUEST_STATES(STATE_ROW)
#undef STATE_ROW
};

/* The node that was asked is in each view, and tells the others only if it writes itself. */
static bool is_answered(const struct viewer *w, const struct live_view *v)
{
	return v->request.stamp && v->request.stamp >= w->record;
}

static uint32_t nodes_refusing(const struct live_request *q)
{
	uint32_t n = 0;

	for (int i = 0; i < REQUEST_STATES_END; i++)
		n += states[i].why ? q->nodes[i] : 0;
	return n;
}

/* Why most of those that write nothing do not; NULL: all write. */
static const char *main_reason(const struct live_request *q)
{
	int most = REQUEST_DUE;

	for (int i = 0; i < REQUEST_STATES_END; i++)
		if (states[i].why && q->nodes[i] &&
			(!states[most].why || q->nodes[i] > q->nodes[most]))
			most = i;
	return states[most].why;
}

static char *say_written(const struct viewer *w, const struct live_request *q)
{
	const uint32_t written = q->nodes[REQUEST_WRITTEN], refusing = nodes_refusing(q);
	const char *reason = main_reason(q);
	char *text = xasprintf("flight recorder: %" PRIu32 " of %" PRIu32 " %s %s a file%s%s",
		written, w->agents, one_or_many(w->agents, "node", "nodes"),
		one_or_many(written, "has written", "have written"),
		one_or_many(written, ": ", ", one of them is "), q->file);

	return refusing ? xappend(text, "; on %" PRIu32 " %s", refusing, reason) : text;
}

enum answer record_answer(const struct viewer *w, const struct live_view *v, char **text)
{
	const struct live_request *q = &v->request;
	const uint32_t due = q->nodes[REQUEST_DUE], written = q->nodes[REQUEST_WRITTEN];
	const uint64_t told = (uint64_t)due + written + nodes_refusing(q);

	if (!is_answered(w, v)) {
		*text = xstrdup("flight recorder: all nodes are asked to write what they keep");
		return ANSWER_AWAITED;
	}
	if (due) {
		*text = xasprintf("flight recorder: %" PRIu32 " of %" PRIu32 " %s %s %s", due,
			w->agents, one_or_many(w->agents, "node", "nodes"),
			one_or_many(due, "writes", "write files such as"), q->file);
		return ANSWER_AWAITED;
	}
	if (!written) {
		*text = xasprintf("flight recorder: nothing is written: %s%s%s",
			main_reason(q) ?: "", q->file[0] ? ": " : "", q->file);
		return ANSWER_REFUSED;
	}
	*text = say_written(w, q);
	return told + v->n_absent < w->agents ? ANSWER_AWAITED : ANSWER_WRITTEN;
}

void record_json(struct json *j, const struct viewer *w, const struct live_view *v)
{
	static const char *const answers[] = {"awaited", "written", "refused"};
	enum answer answer;
	char *text;

	if (!w->record) {
		json_string(j, "record", NULL);
		return;
	}
	answer = record_answer(w, v, &text);
	json_object(j, "record");
	json_string(j, "answer", answers[answer]);
	json_string(j, "text", text);
	json_string(j, "file", is_answered(w, v) && v->request.file[0] ? v->request.file : NULL);
	json_object(j, "nodes");
	for (int i = 0; i < REQUEST_STATES_END; i++)
		json_uint(j, states[i].name, is_answered(w, v) ? v->request.nodes[i] : 0);
	json_close(j);
	json_close(j);
	free(text);
}
