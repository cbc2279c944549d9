/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks of the C library: the one that threads wait for most, and where others have it. */
#include "nodeagent/report/findings/internal.h"

#include <stdlib.h>

#include "nodeagent/report/waits.h"

bool look_lock(const struct facts *facts, struct finding *f)
{
	const struct profile *p = facts->p;
	const struct profile_lock *most = NULL, *holder;
	const char *kind;
	char *path, *name;

	for (size_t i = 0; i < p->n_locks; i++)
		if (!p->locks[i].holder && locks_is_held(p->locks[i].kind) &&
			(!most || p->locks[i].ns > most->ns))
			most = &p->locks[i];
	if (!most || !most->ns)
		return false;
	f->seconds = s_of(locks_ns(p, true));
	kind = locks_kind_name(most->kind);
	holder = locks_most_held(p, most);
	path = holder ? short_path(facts->r, holder->holder - 1) : NULL;
	name = locks_name(facts->r, most);
	finding_say(f, "Threads wait %s for locks, %.0f %% of it for %s %s%s%s.",
		amount_of(facts, f->seconds).text, 100.0 * s_of(most->ns) / f->seconds,
		strncmp(most->name, kind, strlen(kind)) ? kind : "the", name,
		path ? ", which others have mostly in " : "", path ? path : "");
	free(path);
	prove_text(f, "lock", name);
	free(name);
	prove_text(f, "kind", kind);
	prove_seconds(f, "t_s", s_of(most->ns));
	prove_seconds(f, "longest_s", s_of(most->longest_ns));
	prove_count(f, "calls", most->calls);
	if (most->first)
		prove_stack(f, facts->r, most->first - 1);
	if (!holder)
		return true;
	path = report_path(facts->r, holder->holder - 1);
	prove_text(f, "holder_path", path);
	prove_seconds(f, "holder_s", s_of(holder->ns));
	free(path);
	return true;
}
