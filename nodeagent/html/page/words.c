/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader sees for keys, numbers and names of the JSON. */
#include <math.h>
#include <string.h>

#include "nodeagent/base/units.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/html/page/internal.h"

char *words_of_key(const char *key)
{
	const char *known = title_of_key(key);
	char *title;

	if (known)
		return xstrdup(known);
	title = xstrdup(!strncmp(key, "t_", 2) ? key + 2 : key);
	if (text_ends_with(title, "_s"))
		title[strlen(title) - 2] = '\0';
	for (char *s = title; *s; s++)
		if (*s == '_')
			*s = ' ';
	return title;
}

const char *words_of_kind(const char *key, const char *text)
{
	if (strcmp(key, "kind") && strcmp(key, "most_kind") && strcmp(key, "wait_kind"))
		return text;
	for (uint32_t kind = 0; kind < WAIT_KINDS_END; kind++)
		if (!strcmp(text, wait_kind_name(kind)))
			return wait_kind_title(kind);
	return text;
}

static bool is_one_of(const char *key, const char *const *all)
{
	while (*all && strcmp(*all, key))
		all++;
	return *all;
}

static char *time_shown(const char *key, double s)
{
	static const char *const dates[] = {"start_s", "end_s", "utc_s", NULL};

	return text_ends_with(key, "_s") && !is_one_of(key, dates)
		       ? xstrdup(quantity_seconds(s).text)
		       : NULL;
}

static bool is_part(const char *key)
{
	static const char *const parts[] = {"load_balance", "load_balance_in_nodes",
		"load_balance_between_nodes", "share", "parallel", "communication", "orchestration",
		"trend_per_100", "wait", "transfer", "off_cpu", "work", NULL};

	return is_one_of(key, parts) || text_ends_with(key, "_share") ||
	       text_ends_with(key, "_efficiency");
}

static bool is_bytes(const char *key)
{
	static const char *const sizes[] = {"bytes", "largest", "live_error", "read_min",
		"read_max", "write_min", "write_max", NULL};

	return is_one_of(key, sizes) || text_ends_with(key, "_bytes") ||
	       !strncmp(key, "bytes_", strlen("bytes_")) || strstr(key, "_bytes_");
}

static bool is_count(const char *key)
{
	static const char *const counts[] = {"calls", "calls_min", "calls_max", "lost", "sends",
		"recvs", "operations", "messages", "records", "allocations", "frees", "live_blocks",
		"collectives", "iterations", "opens", "reads", "writes", "activities", "kernels",
		"with_latency", NULL};

	return is_one_of(key, counts);
}

char *words_of_number(const char *key, const struct value *v)
{
	const double real = value_real(v);
	char exact[VALUE_DIGITS], *time;

	if (isnan(real))
		return xstrdup("----");
	time = time_shown(key, real);
	if (time)
		return time;
	if (is_bytes(key))
		return xstrdup(quantity_bytes(real).text);
	if (value_kind(v) == VALUE_INTEGER && is_count(key) && real >= 0.0 && real < 1e15)
		return xstrdup(quantity_grouped((uint64_t)real).text);
	if (is_part(key))
		return xasprintf("%.1f %%", 100.0 * real);
	if (value_kind(v) == VALUE_INTEGER)
		return xstrdup(value_exact(v, exact));
	return xasprintf("%.4g", real);
}
