/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwprof.counters and hwprof.observables: lists of small objects whose values
 * are strings. A unit may be left out; its neighbours stay in place.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define LIST_MAX 1000
#define KEYS_MAX 3

static const char *const counter_keys[] = {"hwc_name", "symbol", NULL};
static const char *const observable_keys[] = {"name", "formula", "unit", NULL};

const char *const *list_keys(enum conf_type type)
{
	return type == CONF_COUNTERS ? counter_keys : observable_keys;
}

static size_t count_keys(enum conf_type type)
{
	return type == CONF_COUNTERS ? 2 : 3;
}

void list_free(enum conf_type type, struct conf_list *list)
{
	for (size_t i = 0; i < list->n * count_keys(type); i++)
		free(list->texts[i]);
	free(list->texts);
	*list = (struct conf_list){0};
}

static bool is_symbol(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_')
			return false;
	return true;
}

static int check_symbol(const struct conf_list *list, size_t i, char **why)
{
	const char *s = list->counters[i].symbol;
	char buf[QUOTE_BYTES];

	if (strcmp(s, "T") == 0 || strcmp(s, "CALLS") == 0)
		return fail(why,
			"\"%s\" is not a symbol of your own: T is the time and CALLS the calls", s);
	if (!is_symbol(s))
		return fail(why, "\"%s\" is not a symbol (letters, digits and _, no digit first)",
			quoted(buf, s, strlen(s)));
	for (size_t j = 0; j < i; j++)
		if (strcmp(list->counters[j].symbol, s) == 0)
			return fail(why, "the symbol \"%s\" is taken by element %zu",
				quoted(buf, s, strlen(s)), j + 1);
	return 0;
}

/* The last child of that name in any case counts. */
static const cJSON *child(const cJSON *object, const char *key)
{
	const cJSON *item, *found = NULL;

	cJSON_ArrayForEach(item, object) if (strcasecmp(item->string, key) == 0) found = item;
	return found;
}

static int read_element(enum conf_type type, struct conf_list *list, size_t i, const cJSON *json,
	const cJSON **bad, char **why)
{
	const char *const *keys = list_keys(type);
	char **texts = &list->texts[i * count_keys(type)];
	const cJSON *items[KEYS_MAX];
	char buf[QUOTE_BYTES];

	*bad = json;
	if (!cJSON_IsObject(json))
		return fail(why, "element %zu: %s is not an object", i + 1, json_shown(buf, json));
	for (size_t k = 0; keys[k]; k++) {
		const cJSON *item = items[k] = child(json, keys[k]);
		bool optional = strcmp(keys[k], "unit") == 0;
		const char *s = "";

		if (item && cJSON_IsString(item))
			s = item->valuestring;
		else if (!optional && !item)
			return fail(why, "element %zu: \"%s\" is missing", i + 1, keys[k]);
		else if (item && !(optional && cJSON_IsNull(item))) {
			*bad = item;
			return fail(why, "element %zu: %s: %s is not a string", i + 1, keys[k],
				json_shown(buf, item));
		}
		if (!optional && !*s) {
			*bad = item;
			return fail(why, "element %zu: %s: the string is empty", i + 1, keys[k]);
		}
		texts[k] = strdup(s);
		if (!texts[k])
			return -1;
	}
	if (type == CONF_COUNTERS) {
		char *cause = NULL;

		*bad = items[1];
		if (check_symbol(list, i, &cause) < 0) {
			fail(why, "element %zu: symbol: %s", i + 1, cause ? cause : "not valid");
			free(cause);
			return -1;
		}
	}
	return 0;
}

int list_from_json(enum conf_type type, struct conf_list *field, const cJSON *json,
	const cJSON **bad, char **why)
{
	const size_t n = (size_t)cJSON_GetArraySize(json);
	struct conf_list list = {.n = n};
	const cJSON *item;
	size_t i = 0;

	*bad = json;
	if (n > LIST_MAX)
		return fail(why, "the list has %zu elements; %d are the limit", n, LIST_MAX);
	list.texts = calloc(n * count_keys(type) + 1, sizeof(*list.texts));
	if (!list.texts)
		return -1;
	cJSON_ArrayForEach(item, json)
	{
		if (read_element(type, &list, i++, item, bad, why) < 0) {
			list_free(type, &list);
			return -1;
		}
	}
	list_free(type, field);
	*field = list;
	return 0;
}

void list_print(enum conf_type type, const struct conf_list *list, int indent, FILE *f)
{
	const char *const *keys = list_keys(type);
	char **text = list->texts;

	fputs("[\n", f);
	for (size_t i = 0; i < list->n; i++) {
		fprintf(f, "%*s{\n", indent + 3, "");
		for (size_t k = 0; keys[k]; k++) {
			fprintf(f, "%*s\"%s\": ", indent + 6, "", keys[k]);
			string_print(*text++, f);
			fputs(keys[k + 1] ? ",\n" : "\n", f);
		}
		fprintf(f, "%*s}%s\n", indent + 3, "", i + 1 < list->n ? "," : "");
	}
	fprintf(f, "%*s]", indent, "");
}
