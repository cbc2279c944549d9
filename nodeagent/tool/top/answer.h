/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The answer to a viewer's request that the flight recorders write what they keep: viewer_record().
 */
#ifndef VFTR_NODEAGENT_TOOL_TOP_ANSWER_H
#define VFTR_NODEAGENT_TOOL_TOP_ANSWER_H

struct json;
struct live_view;
struct viewer;

/*
 * AWAITED: some node has not answered, or is still writing; WRITTEN: all have answered, and one or
 * more has written; REFUSED: no node writes.
 */
enum answer { ANSWER_AWAITED, ANSWER_WRITTEN, ANSWER_REFUSED };

/* The answer to w's request as of this view. Sets *text to a sentence, which the caller frees. */
enum answer record_answer(const struct viewer *w, const struct live_view *v, char **text);

/* Writes the member `record' of the object that is open: null unless this viewer has asked. */
void record_json(struct json *j, const struct viewer *w, const struct live_view *v);

#endif
