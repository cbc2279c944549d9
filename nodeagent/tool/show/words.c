/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/words.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

#define GAP "..."

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

static char *for_terminal(char *text)
{
	if (!words_utf8())
		for (char *at = text; *at; at++)
			if ((unsigned char)*at >= 0x80)
				*at = '?';
	return text;
}

char *words_name(const char *text, size_t columns)
{
	return for_terminal(text_short(text, columns));
}

/* As long as it is too wide a character is taken from the end. */
char *words_path(const char *text, size_t columns)
{
	const size_t bytes = strlen(text), most = 4 * columns;
	char *head = bytes > most ? xasprintf("%.*s", (int)most, text) : xstrdup(text);
	char *plain = text_plain(head), *cut;
	size_t n = strlen(plain);

	free(head);
	if (bytes <= most && text_columns(plain) <= columns)
		return for_terminal(plain);
	do {
		while (n && ((unsigned char)plain[n - 1] & 0xc0) == 0x80)
			n--;
		n -= n > 0;
		plain[n] = '\0';
	} while (n && text_columns(plain) + strlen(GAP) > columns);
	cut = xasprintf("%s" GAP, plain);
	free(plain);
	return for_terminal(cut);
}
