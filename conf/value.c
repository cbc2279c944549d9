/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads one value, from JSON or from a command line, checked against its row of the
 * table. A command-line text is turned into JSON first, so that there is one
 * set of checks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

/* VALUE is not ACCEPTED[: detail]; consumes detail. */
static int refuse(const struct conf_option *o, const cJSON *json, char *detail, char **why)
{
	char buf[QUOTE_BYTES], *accepted = conf_accepted(o);

	fail(why, "%s is not %s%s%s", json_shown(buf, json), accepted ? accepted : "valid",
		detail ? ": " : "", detail ? detail : "");
	free(accepted);
	free(detail);
	return -1;
}

static bool is_choice(const char *words, const char *s)
{
	size_t bytes = strlen(s);

	for (const char *w = words; *w;) {
		size_t n = strcspn(w, "|");

		if (n == bytes && memcmp(w, s, n) == 0)
			return true;
		w += n + (w[n] == '|');
	}
	return false;
}

bool conf_has_word(const char *list, const char *word)
{
	const size_t bytes = strlen(word);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == bytes && !memcmp(list, word, bytes))
			return true;
	return false;
}

static bool are_words(const char *words, const char *list)
{
	bool ok = *list;

	if (!strcmp(list, "none"))
		return true;
	while (ok && list) {
		const char *comma = strchr(list, ',');
		char *word = comma ? strndup(list, (size_t)(comma - list)) : strdup(list);

		ok = word && *word && is_choice(words, word);
		free(word);
		list = comma ? comma + 1 : NULL;
	}
	return ok;
}

static bool string_ok(const struct conf_option *o, const char *s, char **detail)
{
	if (utf8_span(s, strlen(s)) != strlen(s)) {
		fail(detail, "it is not UTF-8");
		return false;
	}
	switch (o->type) {
	case CONF_CHOICE:
		return is_choice(o->words, s);
	case CONF_WORDS:
		return are_words(o->words, s);
	case CONF_RANKS:
		return rank_list_check(s, true, detail) == 0;
	case CONF_CPU:
		return strcmp(s, "auto") == 0 || strcmp(s, "any") == 0 ||
		       rank_list_check(s, false, detail) == 0;
	case CONF_REGEX:
		return regex_check(s, detail) == 0;
	case CONF_TAGS:
		return tags_check(s, detail) == 0;
	case CONF_PATTERNS:
		return patterns_check(s, detail) == 0;
	default:
		return true;
	}
}

static int set_string(const struct conf_option *o, char **field, const cJSON *json, char **why)
{
	char number[32], *detail = NULL, *copy;
	const char *s = cJSON_IsString(json) ? json->valuestring : NULL;

	/* "cpu": 3 is what everybody writes */
	if (o->type == CONF_CPU && cJSON_IsNumber(json)) {
		snprintf(number, sizeof(number), "%.15g", json->valuedouble);
		s = number;
	}
	if (!s || !string_ok(o, s, &detail))
		return refuse(o, json, detail, why);
	copy = strdup(s);
	if (!copy)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

static int set_size(const struct conf_option *o, uint64_t *field, const cJSON *json, char **why)
{
	double bytes = json->valuedouble;

	if (!cJSON_IsNumber(json) &&
		!(cJSON_IsString(json) && conf_size(json->valuestring, &bytes)))
		return refuse(o, json, NULL, why);
	if (!(bytes >= o->min && bytes <= o->max) || bytes != floor(bytes))
		return refuse(o, json, NULL, why);

	uint64_t n = (uint64_t)bytes;

	if (o->words && (n & (n - 1)) != 0)
		return refuse(o, json, NULL, why);
	*field = n;
	return 0;
}

static bool is_integer(const struct conf_option *o)
{
	return o->type == CONF_INT || o->type == CONF_AUTO_INT;
}

/* INT, whose row may name the unit of its numbers, DOUBLE, TIME and what may be auto. */
static int set_number(const struct conf_option *o, void *field, const cJSON *json, char **why)
{
	const char *text = cJSON_IsString(json) ? json->valuestring : NULL;
	double number = json->valuedouble, unit = 1;
	bool is = cJSON_IsNumber(json);

	if (text && o->type == CONF_TIME)
		is = conf_time(text, &number);
	else if (text && o->type == CONF_INT && o->words)
		is = conf_size(text, &number) && conf_size(o->words, &unit);
	number /= unit;
	if (!is || !(number >= o->min && number <= o->max) ||
		(is_integer(o) && number != floor(number)))
		return refuse(o, json, NULL, why);
	if (is_integer(o))
		*(long long *)field = (long long)number;
	else
		*(double *)field = number;
	return 0;
}

static void set_null(const struct conf_option *o, void *field)
{
	switch (o->type) {
	case CONF_DOUBLE:
	case CONF_AUTO_DOUBLE:
		*(double *)field = NAN;
		break;
	case CONF_SIZE:
		*(uint64_t *)field = 0;
		break;
	default:
		free(*(char **)field);
		*(char **)field = NULL;
	}
}

static bool is_auto(const struct conf_option *o)
{
	return o->type == CONF_AUTO_INT || o->type == CONF_AUTO_BOOL || o->type == CONF_AUTO_DOUBLE;
}

int value_from_json(
	const struct conf_option *o, void *field, const cJSON *json, const cJSON **bad, char **why)
{
	*bad = json;

	if (cJSON_IsNull(json) && o->null_ok) {
		set_null(o, field);
		return 0;
	}
	if (is_auto(o) && cJSON_IsString(json) && !strcmp(json->valuestring, "auto")) {
		if (o->type == CONF_AUTO_DOUBLE)
			*(double *)field = (double)CONF_AUTO;
		else
			*(long long *)field = CONF_AUTO;
		return 0;
	}
	switch (o->type) {
	case CONF_BOOL:
	case CONF_AUTO_BOOL:
		if (!cJSON_IsBool(json))
			return refuse(o, json, NULL, why);
		if (is_auto(o))
			*(long long *)field = cJSON_IsTrue(json);
		else
			*(bool *)field = cJSON_IsTrue(json);
		return 0;
	case CONF_INT:
	case CONF_AUTO_INT:
	case CONF_DOUBLE:
	case CONF_AUTO_DOUBLE:
	case CONF_TIME:
		return set_number(o, field, json, why);
	case CONF_SIZE:
		return set_size(o, field, json, why);
	case CONF_COUNTERS:
	case CONF_OBSERVABLES:
		if (!cJSON_IsArray(json))
			return refuse(o, json, NULL, why);
		return list_from_json(o->type, field, json, bad, why);
	default:
		return set_string(o, field, json, why);
	}
}

/* Lists are strict JSON on the command line too. */
static cJSON *list_from_text(const char *text)
{
	struct lines lines = {0};
	char *why = NULL;
	cJSON *json = NULL;
	int line;

	if (lines_scan(&lines, text, strlen(text), &line, &why) == 0)
		json = cJSON_Parse(text);
	lines_free(&lines);
	free(why);
	return json;
}

static cJSON *json_from_text(const struct conf_option *o, const char *text)
{
	char *end;
	double number;
	bool yes;

	if (!text || (o->null_ok && strcmp(text, "null") == 0))
		return cJSON_CreateNull();
	switch (o->type) {
	case CONF_BOOL:
	case CONF_AUTO_BOOL:
		if (conf_boolean(text, &yes))
			return cJSON_CreateBool(yes);
		break;
	case CONF_INT:
	case CONF_AUTO_INT:
	case CONF_DOUBLE:
	case CONF_AUTO_DOUBLE:
	case CONF_TIME:
		number = strtod(text, &end);
		if (*text && *end == '\0' && text[strspn(text, "0123456789+-.eE")] == '\0')
			return cJSON_CreateNumber(number);
		break;
	case CONF_COUNTERS:
	case CONF_OBSERVABLES: {
		cJSON *json = list_from_text(text);

		if (json)
			return json;
		break;
	}
	default:
		break;
	}
	return cJSON_CreateString(text);
}

int value_from_text(const struct conf_option *o, void *field, const char *text, char **why)
{
	cJSON *json = json_from_text(o, text);
	const cJSON *bad;
	int e;

	if (!json)
		return -1;
	e = value_from_json(o, field, json, &bad, why);
	cJSON_Delete(json);
	return e;
}

void value_free(const struct conf_option *o, void *field)
{
	switch (o->type) {
	case CONF_BOOL:
	case CONF_AUTO_BOOL:
	case CONF_INT:
	case CONF_AUTO_INT:
	case CONF_DOUBLE:
	case CONF_AUTO_DOUBLE:
	case CONF_TIME:
	case CONF_SIZE:
		break;
	case CONF_COUNTERS:
	case CONF_OBSERVABLES:
		list_free(o->type, field);
		break;
	default:
		free(*(char **)field);
	}
}
