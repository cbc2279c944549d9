/* SPDX-License-Identifier: BSD-3-Clause */
/* Values shown: as JSON, in messages, and what a key accepts in words. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

static const char *size_shown(char buf[static 32], uint64_t bytes)
{
	int unit = -1;

	while (bytes && bytes % 1024 == 0 && unit < 3) {
		bytes /= 1024;
		unit++;
	}
	if (unit < 0)
		snprintf(buf, 32, "%llu", (unsigned long long)bytes);
	else
		snprintf(buf, 32, "%llu%ciB", (unsigned long long)bytes, "KMGT"[unit]);
	return buf;
}

/* BEGIN and the words of the row. */
static char *with_words(const struct conf_option *o, const char *begin)
{
	char *s = text_of("%s", begin), *longer;

	for (const char *w = o->words; s && *w;) {
		size_t n = strcspn(w, "|");

		longer = text_of("%s%.*s%s", s, (int)n, w, w[n] ? ", " : "");
		free(s);
		s = longer;
		w += n + (w[n] == '|');
	}
	return s;
}

/* The example has the first two words. */
static char *accepted_words(const struct conf_option *o)
{
	const size_t first = strcspn(o->words, "|");
	const char *second = o->words + first + (o->words[first] == '|');
	char *start, *text;

	if (o->type == CONF_CHOICE)
		return with_words(o, "one of ");
	start = text_of("\"none\", or a list such as \"%.*s,%.*s\" of ", (int)first, o->words,
		(int)strcspn(second, "|"), second);
	text = with_words(o, start);
	free(start);
	return text;
}

static char *accepted_number(const struct conf_option *o)
{
	if (o->type == CONF_TIME)
		return text_of(
			"a time from %.15g to %.15g s, such as 2.5 or \"300ms\"", o->min, o->max);
	if (o->type == CONF_INT && o->words)
		return text_of("an integer from %.15g to %.15g, or a size such as \"16%s\"", o->min,
			o->max, o->words + strspn(o->words, "1"));
	if (o->type == CONF_AUTO_INT)
		return text_of("\"auto\" or an integer from %.15g to %.15g", o->min, o->max);
	if (o->type == CONF_AUTO_DOUBLE)
		return text_of("\"auto\" or a number from %.15g to %.15g", o->min, o->max);
	return text_of("%s from %.15g to %.15g", o->type == CONF_INT ? "an integer" : "a number",
		o->min, o->max);
}

static char *accepted_size(const struct conf_option *o)
{
	char min[32], max[32];

	size_shown(min, (uint64_t)o->min);
	size_shown(max, (uint64_t)o->max);
	if (o->words)
		return text_of("a size that is a %s from %s to %s", o->words, min, max);
	return text_of("a size from %s to %s, such as \"64MiB\"", min, max);
}

static const struct {
	const char *name, *accepted; /* NULL: the key's row says it */
	const char *also;
} types[] = {
	[CONF_BOOL] = {"boolean", "true or false", "yes or no, on or off, 1 or 0"},
	[CONF_INT] = {"integer", NULL},
	[CONF_AUTO_INT] = {"integer", NULL},
	[CONF_AUTO_BOOL] = {"boolean or auto", "\"auto\", true or false",
		"yes or no, on or off, 1 or 0"},
	[CONF_DOUBLE] = {"number", NULL},
	[CONF_AUTO_DOUBLE] = {"number", NULL},
	[CONF_TIME] = {"time", NULL},
	[CONF_STRING] = {"string", "a string"},
	[CONF_SIZE] = {"size", NULL},
	[CONF_CHOICE] = {"choice", NULL},
	[CONF_WORDS] = {"list of words", NULL},
	[CONF_RANKS] = {"rank list", "\"all\", \"none\" or a list of ranks such as \"0,2-5\""},
	[CONF_REGEX] = {"regular expression", "a POSIX extended regular expression"},
	[CONF_CPU] = {"CPU list", "\"auto\", \"any\" or a list of CPUs such as \"3\" or \"0-3,8\""},
	[CONF_TAGS] = {"tags", "a list of tags such as \"case=small,cpus=8\""},
	[CONF_PATTERNS] = {"patterns",
		"a list of names or shell patterns such as \"solve,*::get*\""},
	[CONF_COUNTERS] = {"list", "a list of {\"hwc_name\": ..., \"symbol\": ...}"},
	[CONF_OBSERVABLES] = {"list", "a list of {\"name\": ..., \"formula\": ..., \"unit\": ...}"},
};

static char *accepted_value(const struct conf_option *o)
{
	if (types[o->type].accepted)
		return text_of("%s", types[o->type].accepted);
	if (o->type == CONF_CHOICE || o->type == CONF_WORDS)
		return accepted_words(o);
	return o->type == CONF_SIZE ? accepted_size(o) : accepted_number(o);
}

char *conf_accepted(const struct conf_option *o)
{
	char *s = accepted_value(o), *longer;

	if (!s || !o->null_ok)
		return s;
	longer = text_of("%s%s null", s, o->type == CONF_CHOICE ? "," : " or");
	free(s);
	return longer;
}

const char *conf_type_name(enum conf_type type)
{
	return types[type].name;
}

const char *conf_also_accepted(enum conf_type type)
{
	return types[type].also;
}

const char *json_shown(char buf[static QUOTE_BYTES], const cJSON *json)
{
	char text[QUOTE_BYTES];

	switch (json->type & 0xff) {
	case cJSON_False:
		return "false";
	case cJSON_True:
		return "true";
	case cJSON_NULL:
		return "null";
	case cJSON_Number:
		snprintf(buf, QUOTE_BYTES, "%.15g", json->valuedouble);
		return buf;
	case cJSON_String:
		quoted(text, json->valuestring, strlen(json->valuestring));
		snprintf(buf, QUOTE_BYTES, "\"%.*s\"", QUOTE_BYTES - 3, text);
		return buf;
	case cJSON_Array:
		return "a list";
	default:
		return "an object";
	}
}

void string_print(const char *s, FILE *f)
{
	if (!s) {
		fputs("null", f);
		return;
	}
	putc('"', f);
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(f, "\\u%04x", c);
		else
			putc(c, f);
	}
	putc('"', f);
}

/* Vftrace's %f wherever that keeps the value. */
static void number_print(double v, FILE *f)
{
	char s[400];

	snprintf(s, sizeof(s), "%f", v);
	if (strtod(s, NULL) != v)
		snprintf(s, sizeof(s), "%.17g", v);
	fputs(isnan(v) ? "null" : s, f);
}

static void size_print(const struct conf_option *o, uint64_t bytes, FILE *f)
{
	char buf[32];

	if (bytes == 0 && o->null_ok)
		fputs("null", f);
	else if (bytes % 1024)
		fprintf(f, "%llu", (unsigned long long)bytes);
	else
		fprintf(f, "\"%s\"", size_shown(buf, bytes));
}

static void auto_print(const struct conf_option *o, long long value, FILE *f)
{
	if (value == CONF_AUTO)
		fputs("\"auto\"", f);
	else if (o->type == CONF_AUTO_BOOL)
		fputs(value ? "true" : "false", f);
	else
		fprintf(f, "%lld", value);
}

void value_print(const struct conf_option *o, const void *field, int indent, FILE *f)
{
	switch (o->type) {
	case CONF_BOOL:
		fputs(*(const bool *)field ? "true" : "false", f);
		break;
	case CONF_INT:
		fprintf(f, "%lld", *(const long long *)field);
		break;
	case CONF_AUTO_INT:
	case CONF_AUTO_BOOL:
		auto_print(o, *(const long long *)field, f);
		break;
	case CONF_AUTO_DOUBLE:
		if (*(const double *)field == (double)CONF_AUTO)
			auto_print(o, CONF_AUTO, f);
		else
			number_print(*(const double *)field, f);
		break;
	case CONF_DOUBLE:
	case CONF_TIME:
		number_print(*(const double *)field, f);
		break;
	case CONF_SIZE:
		size_print(o, *(const uint64_t *)field, f);
		break;
	case CONF_COUNTERS:
	case CONF_OBSERVABLES:
		list_print(o->type, field, indent, f);
		break;
	default:
		string_print(*(char *const *)field, f);
	}
}
