/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with a unit: times and sizes, in files, on command lines and in the environment. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

#define NUMBER_BYTES 64

/* A value in this unit is multiplied, then divided: both whole, so that 5ms is 0.005. */
struct unit {
	const char *name;
	double times, per;
};

static const struct unit times[] = {
	{"", 1, 1},
	{"s", 1, 1},
	{"ms", 1, 1e3},
	{"us", 1, 1e6},
	{"ns", 1, 1e9},
	{"min", 60, 1},
	{"h", 3600, 1},
	{"d", 86400, 1},
	{NULL},
};

static const struct unit sizes[] = {
	{"", 1, 1},
	{"B", 1, 1},
	{"K", CONF_KIB, 1},
	{"KiB", CONF_KIB, 1},
	{"M", CONF_MIB, 1},
	{"MiB", CONF_MIB, 1},
	{"G", CONF_GIB, 1},
	{"GiB", CONF_GIB, 1},
	{"T", 1024 * CONF_GIB, 1},
	{"TiB", 1024 * CONF_GIB, 1},
	{NULL},
};

/* False: it is not a decimal number with one of these units, or with none. */
static bool parse(const struct unit *units, const char *text, double *value)
{
	static const char digits[] = "0123456789+-.eE";
	char number[NUMBER_BYTES], *end;
	size_t bytes = strspn(text, digits);

	if (!bytes || bytes >= sizeof(number))
		return false;
	memcpy(number, text, bytes);
	number[bytes] = '\0';
	*value = strtod(number, &end);
	if (*end)
		return false;
	text += bytes;
	text += strspn(text, " ");
	for (; units->name; units++)
		if (!strcasecmp(text, units->name)) {
			*value = *value * units->times / units->per;
			return isfinite(*value);
		}
	return false;
}

bool conf_time(const char *text, double *seconds)
{
	return parse(times, text, seconds);
}

bool conf_size(const char *text, double *bytes)
{
	return parse(sizes, text, bytes);
}

bool conf_boolean(const char *text, bool *value)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{"true", true},
		{"yes", true},
		{"on", true},
		{"1", true},
		{"false", false},
		{"no", false},
		{"off", false},
		{"0", false},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(text, words[i].word)) {
			*value = words[i].value;
			return true;
		}
	return false;
}
