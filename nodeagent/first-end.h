/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rank ended badly first, and how: the others are victims of the launcher. */
#ifndef VFTR_NODEAGENT_FIRST_END_H
#define VFTR_NODEAGENT_FIRST_END_H

struct json;
struct profile;

/*
 * Of a node or a job: which of the ranks that ended badly was first, when (in seconds since
 * the first process began), and what became of the others. Ends on different nodes are
 * compared within the errors of their times: where these do not tell, all that may have
 * been first are named. NULL: no rank ended badly, or one, by a signal, that the logs name
 * anyhow. The caller frees it.
 */
char *first_end_sentence(const struct profile *p);

struct profile_bad_end;
/* The one that was first for certain, or NULL. */
const struct profile_bad_end *first_end(const struct profile *p);

/* The member first_end: null, if no rank ended badly. */
void json_first_end(struct json *j, const struct profile *p);

#endif
