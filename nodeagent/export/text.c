/* SPDX-License-Identifier: BSD-3-Clause */
/* Words that several formats need. */

#include "mpi_id.h"
#include "nodeagent/export/export.h"
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"

const char *export_message_name(const struct export_message *m)
{
	switch (m->m.kind) {
	case VFD_SEND:
		return "send";
	case VFD_RECEIVE:
		return "receive";
	case VFD_COLLECTIVE:
		return m->m.function < vftr_mpi_n ? vftr_mpi_names[m->m.function] : "collective";
	case VFD_RMA:
		return m->m.function < vftr_mpi_n ? vftr_mpi_names[m->m.function] : "one-sided";
	default:
		return m->m.flags & VFD_MESSAGE_WRITE ? "write" : "read";
	}
}

bool export_shows_message(const struct export_event *e)
{
	return (e->kind == EXPORT_END) == (e->message->m.kind == VFD_RECEIVE);
}

const char *export_mark_name(enum export_kind kind)
{
	return kind == EXPORT_GAP	? "not recorded until here"
	       : kind == EXPORT_THINNED ? "calls left out"
					: "calls lost";
}

const char *export_match_name(const struct export_message *m)
{
	static const char *const names[VFD_MATCHES] = {
		"unmatched", "exact", "ambiguous", "assumed", "broken", "guess"};

	if (m->m.kind != VFD_RECEIVE || (unsigned)m->m.match >= VFD_MATCHES)
		return NULL;
	return names[m->m.match];
}

char *export_quoted(const char *text)
{
	size_t bytes = 0;
	char *s = NULL;
	FILE *f = memory_begin(&s, &bytes);
	struct json j;

	json_begin(&j, f, 0);
	json_string(&j, NULL, text);
	memory_end(f);
	return s;
}
