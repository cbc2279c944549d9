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

static size_t count(enum conf_type type, const void *field)
{
	return type == CONF_COUNTERS ? ((const struct conf_counters *)field)->n
				     : ((const struct conf_observables *)field)->n;
}

/* The member that has the text of key k of element i. */
static char **slot(enum conf_type type, const void *field, size_t i, size_t k)
{
	if (type == CONF_COUNTERS) {
		struct conf_counter *c = &((const struct conf_counters *)field)->at[i];

		return k == 0 ? &c->hwc_name : &c->symbol;
	}
	struct conf_observable *o = &((const struct conf_observables *)field)->at[i];

	return k == 0 ? &o->name : k == 1 ? &o->formula : &o->unit;
}

static int allocate(enum conf_type type, void *field, size_t n)
{
	if (type == CONF_COUNTERS) {
		struct conf_counters *c = field;

		c->at = calloc(n, sizeof(*c->at));
		c->n = c->at ? n : 0;
	} else {
		struct conf_observables *o = field;

		o->at = calloc(n, sizeof(*o->at));
		o->n = o->at ? n : 0;
	}
	return count(type, field) == n ? 0 : -1;
}

void list_free(enum conf_type type, void *field)
{
	const char *const *keys = list_keys(type);

	for (size_t i = 0; i < count(type, field); i++)
		for (size_t k = 0; keys[k]; k++)
			free(*slot(type, field, i, k));
	if (type == CONF_COUNTERS) {
		free(((struct conf_counters *)field)->at);
		*(struct conf_counters *)field = (struct conf_counters){0};
	} else {
		free(((struct conf_observables *)field)->at);
		*(struct conf_observables *)field = (struct conf_observables){0};
	}
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

static int check_symbol(const struct conf_counters *c, size_t i, char **why)
{
	const char *s = c->at[i].symbol;
	char buf[QUOTE_BYTES];

	if (strcmp(s, "T") == 0 || strcmp(s, "CALLS") == 0)
		return fail(why,
			"\"%s\" is not a symbol of your own: T is the time and CALLS the calls", s);
	if (!is_symbol(s))
		return fail(why, "\"%s\" is not a symbol (letters, digits and _, no digit first)",
			quoted(buf, s, strlen(s)));
	for (size_t j = 0; j < i; j++)
		if (strcmp(c->at[j].symbol, s) == 0)
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

static int read_element(enum conf_type type, void *field, size_t i, const cJSON *json,
	const cJSON **bad, char **why)
{
	const char *const *keys = list_keys(type);
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
		*slot(type, field, i, k) = strdup(s);
		if (!*slot(type, field, i, k))
			return -1;
	}
	if (type == CONF_COUNTERS) {
		char *cause = NULL;

		*bad = items[1];
		if (check_symbol(field, i, &cause) < 0) {
			fail(why, "element %zu: symbol: %s", i + 1, cause ? cause : "not valid");
			free(cause);
			return -1;
		}
	}
	return 0;
}

int list_from_json(
	enum conf_type type, void *field, const cJSON *json, const cJSON **bad, char **why)
{
	union {
		struct conf_counters counters;
		struct conf_observables observables;
	} list = {0};
	const cJSON *item;
	size_t n = 0;

	*bad = json;
	cJSON_ArrayForEach(item, json) n++;
	if (n > LIST_MAX)
		return fail(why, "the list has %zu elements; %d are the limit", n, LIST_MAX);
	if (n > 0 && allocate(type, &list, n) < 0)
		return -1;
	n = 0;
	cJSON_ArrayForEach(item, json)
	{
		if (read_element(type, &list, n++, item, bad, why) < 0) {
			list_free(type, &list);
			return -1;
		}
	}
	list_free(type, field);
	if (type == CONF_COUNTERS)
		*(struct conf_counters *)field = list.counters;
	else
		*(struct conf_observables *)field = list.observables;
	return 0;
}

void list_print(enum conf_type type, const void *field, int indent, FILE *f)
{
	const char *const *keys = list_keys(type);
	size_t n = count(type, field);

	fputs("[\n", f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%*s{\n", indent + 3, "");
		for (size_t k = 0; keys[k]; k++) {
			fprintf(f, "%*s\"%s\": ", indent + 6, "", keys[k]);
			string_print(*slot(type, field, i, k), f);
			fputs(keys[k + 1] ? ",\n" : "\n", f);
		}
		fprintf(f, "%*s}%s\n", indent + 3, "", i + 1 < n ? "," : "");
	}
	fprintf(f, "%*s]", indent, "");
}
