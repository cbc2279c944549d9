/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/words.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

struct unit {
	double of;
	const char *name;
};

/* Three digits that count. A unit is left where rounding would make 1000 of it. */
static char *in_unit(double value, const struct unit *units, size_t n, const char *blank)
{
	size_t i = 0;

	while (i + 1 < n && value >= 999.5 * units[i].of)
		i++;
	value /= units[i].of;
	return xasprintf("%.*f%s%s",
		value < 9.995	? 2
		: value < 99.95 ? 1
				: 0,
		value, blank, units[i].name);
}

char *words_time(uint64_t ns)
{
	static const struct unit units[] = {{1e3, "us"}, {1e6, "ms"}, {1e9, "s"}};
	static const struct unit hours[] = {{3.6e12, "h"}};

	if (ns < 1000)
		return xasprintf("%u ns", (unsigned)ns);
	if (ns >= 10000000000000)
		return in_unit((double)ns, hours, ARRAY_SIZE(hours), " ");
	return in_unit((double)ns, units, ARRAY_SIZE(units), " ");
}

char *words_time_marked(uint64_t ns, bool estimated)
{
	char *plain = words_time(ns), *marked;

	if (!estimated)
		return plain;
	marked = xasprintf("~%s", plain);
	free(plain);
	return marked;
}

char *words_count(uint64_t n)
{
	static const struct unit units[] = {
		{1e3, "k"}, {1e6, "M"}, {1e9, "G"}, {1e12, "T"}, {1e15, "P"}, {1e18, "E"}};

	if (n < 100000)
		return xasprintf("%u", (unsigned)n);
	return in_unit((double)n, units, ARRAY_SIZE(units), "");
}

bool words_utf8(void)
{
	static int known = -1;
	locale_t l;

	if (known >= 0)
		return known;
	l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	known = l && !strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
	if (l)
		freelocale(l);
	return known;
}

char *words_name(struct text_cuts *cuts, const char *text, size_t columns)
{
	char *plain = text_plain(text), *name;

	if (!words_utf8())
		for (char *at = plain; *at; at++)
			if ((unsigned char)*at >= 0x80)
				*at = '?';
	name = text_cut(cuts, plain, columns);
	free(plain);
	return name;
}
