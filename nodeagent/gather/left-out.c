/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/gather/left-out.h"

#include <regex.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/replay/tree/calltree.h"
#include "nodeagent/symbols/demangle.h"
#include "shm/record.h"

enum judged { NOT_YET, IS_IN, IS_OUT };

struct left_out {
	regex_t exclude;
	bool has_exclude;
	struct name_style style;
	uint32_t depth;
	unsigned char *judged; /* by number of a name */
	size_t n;
};

struct left_out *left_out_new(const struct conf *c)
{
	struct left_out *l;

	if (!c->profile_exclude && !c->profile_depth)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->has_exclude = c->profile_exclude &&
			 !regcomp(&l->exclude, c->profile_exclude, REG_EXTENDED | REG_NOSUB);
	l->style = name_style_of(c);
	l->depth = c->profile_depth ? (uint32_t)c->profile_depth : UINT32_MAX;
	return l;
}

void left_out_free(struct left_out *l)
{
	if (!l)
		return;
	if (l->has_exclude)
		regfree(&l->exclude);
	free(l->judged);
	free(l);
}

bool left_out_may(uint64_t key)
{
	if (RECORD_IS_REGION(key))
		return true;
	return !(key & KEY_INIT) && !key_is_site(key) &&
	       ((key & KEY_WIDE) || (uint32_t)key >= RECORD_ID_REGION);
}

bool left_out_has(struct left_out *l, const char *name, uint32_t id, uint32_t depth)
{
	if (depth > l->depth)
		return true;
	if (!l->has_exclude)
		return false;
	if (id >= l->n) {
		const size_t n = 2 * (size_t)id + 64;

		l->judged = xrealloc(l->judged, n);
		for (size_t i = l->n; i < n; i++)
			l->judged[i] = NOT_YET;
		l->n = n;
	}
	if (l->judged[id] == NOT_YET)
		l->judged[id] = name_matches(&l->exclude, name, &l->style) ? IS_OUT : IS_IN;
	return l->judged[id] == IS_OUT;
}

uint32_t left_out_depth(const struct left_out *l)
{
	return l->depth;
}
