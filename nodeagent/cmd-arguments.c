/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arguments that `vftr dump` and `vftr export` have in common: ranks and times. What is
 * wrong with one is said in one sentence that has it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/cmd.h"
#include "nodeagent/util.h"

bool cmd_time(const char *text, int64_t *ns, bool *set)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; end != text && i < ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].unit) && fabs(value * units[i].ns) < 0x1p62) {
			*ns = llround(value * units[i].ns);
			return *set = true;
		}
	complain("`%s' is no time; write 2.5, 300ms, 40us or 7ns", text);
	return false;
}

bool cmd_ranks(const char *list)
{
	char *why = NULL;

	if (!list || !rank_list_check(list, false, &why))
		return true;
	complain("--ranks %s: %s", list, why ? why : "is no list of ranks");
	free(why);
	return false;
}

bool cmd_in_order(bool from_set, int64_t from, bool to_set, int64_t to)
{
	if (!from_set || !to_set || from < to)
		return true;
	complain("--from is not before --to: nothing lies between them");
	return false;
}
