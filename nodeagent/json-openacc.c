/* SPDX-License-Identifier: BSD-3-Clause */
/* The member of BASE_all.json about OpenACC, where it was used. */
#include <inttypes.h>
#include <stdlib.h>

#include "nodeagent/json.h"
#include "nodeagent/report-openacc.h"
#include "nodeagent/report.h"
#include "nodeagent/util.h"

static void text_or_null(struct json *j, const char *name, const char *text)
{
	json_string(j, name, text[0] ? text : NULL);
}

static void write_entry(struct json *j, const struct report *r, const struct profile_openacc *o)
{
	struct openacc_texts texts = openacc_texts_shown(r, o);
	char *region = xasprintf("%016" PRIx64, openacc_region_id(o));

	json_object(j, NULL);
	json_uint(j, "id", r->id[o->stack]);
	json_string(j, "event", openacc_event_name(o->event));
	json_uint(j, "number", o->event);
	text_or_null(j, "parent", openacc_parent_name(o->parent));
	json_string(j, "region", region);
	json_uint(j, "calls", o->calls);
	json_uint(j, "calls_min", o->calls_min);
	json_uint(j, "calls_max", o->calls_max);
	json_uint(j, "ranks", o->ranks);
	json_seconds(j, "t_incl_s", o->ns);
	json_seconds(j, "t_s", o->own_ns);
	json_uint(j, "bytes", o->bytes);
	text_or_null(j, "file", texts.file);
	text_or_null(j, "lines", texts.lines);
	text_or_null(j, "function", texts.function);
	text_or_null(j, "name", texts.name);
	json_close(j);
	free(region);
	free(texts.all);
}

void json_openacc(struct json *j, const struct report *r)
{
	if (!r->p->n_openacc)
		return;
	json_array(j, "openacc");
	for (size_t i = 0; i < r->p->n_openacc; i++)
		write_entry(j, r, &r->p->openacc[i]);
	json_close(j);
}
