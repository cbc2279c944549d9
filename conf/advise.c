/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of one level of the file, and which of them was probably meant. */
#include <ctype.h>
#include <string.h>

#include "conf/internal.h"

#define KEY_BYTES 100 /* of a longer key only the beginning is compared */
#define SHORTEST  3   /* part of a name that tells which is meant */
#define NAMES_MAX (sizeof(((struct names *)0)->at) / sizeof(char *))

static void add(struct names *names, const char *s, size_t bytes)
{
	size_t i = names->n;

	/* rows of a section stand together */
	if (i > 0 && names->bytes[i - 1] == bytes && memcmp(names->at[i - 1], s, bytes) == 0)
		return;
	if (i == NAMES_MAX)
		return;
	names->at[i] = s;
	names->bytes[i] = bytes;
	names->n++;
}

void names_of_section(struct names *names, const char *prefix)
{
	size_t bytes = strlen(prefix);

	names->n = 0;
	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const char *path = conf_options[i].path;

		if (strncmp(path, prefix, bytes) == 0)
			add(names, path + bytes, strcspn(path + bytes, "."));
	}
}

void names_of_list(struct names *names, enum conf_type type)
{
	const char *const *keys = list_keys(type);

	names->n = 0;
	for (size_t i = 0; keys[i]; i++)
		add(names, keys[i], strlen(keys[i]));
}

int names_find(const struct names *names, const char *key, size_t bytes)
{
	for (size_t i = 0; i < names->n; i++)
		if (names->bytes[i] == bytes && strncasecmp(names->at[i], key, bytes) == 0)
			return (int)i;
	return -1;
}

static bool is_same(char a, char b, bool any_case)
{
	return any_case ? tolower((unsigned char)a) == tolower((unsigned char)b) : a == b;
}

size_t conf_distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes, bool any_case)
{
	size_t row[KEY_BYTES + 1];

	if (a_bytes > KEY_BYTES)
		a_bytes = KEY_BYTES;
	if (b_bytes > KEY_BYTES)
		b_bytes = KEY_BYTES;
	for (size_t j = 0; j <= b_bytes; j++)
		row[j] = j;
	for (size_t i = 1; i <= a_bytes; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_bytes; j++) {
			size_t best = diagonal + !is_same(a[i - 1], b[j - 1], any_case);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[b_bytes];
}

/* What differs in more than half of the letters was not meant, unless it is a longer name. */
static bool is_like(const char *key, size_t bytes, const char *name, size_t name_bytes, size_t d)
{
	if (d <= (bytes < KEY_BYTES ? bytes : KEY_BYTES) / 2)
		return true;
	for (size_t i = 0; bytes >= SHORTEST && i + bytes <= name_bytes; i++)
		if (!strncasecmp(name + i, key, bytes))
			return true;
	return false;
}

size_t names_nearest(const struct names *names, const char *key)
{
	size_t bytes = strlen(key), nearest = names->n, least = SIZE_MAX;

	for (size_t i = 0; i < names->n; i++) {
		size_t d = conf_distance(key, bytes, names->at[i], names->bytes[i], true);

		if (d < least && is_like(key, bytes, names->at[i], names->bytes[i], d)) {
			least = d;
			nearest = i;
		}
	}
	return nearest;
}

char *conf_nearest(const char *key)
{
	size_t bytes = strlen(key), least = SIZE_MAX;
	const char *nearest = NULL;
	int nearest_bytes = 0;

	for (size_t i = 0; i < CONF_N_OPTIONS; i++) {
		const char *path = conf_options[i].path;

		/* the key itself, and each section it stands in */
		for (size_t n = strcspn(path, ".");; n += 1 + strcspn(path + n + 1, ".")) {
			size_t d = conf_distance(key, bytes, path, n, true);

			if (d < least && is_like(key, bytes, path, n, d)) {
				least = d;
				nearest = path;
				nearest_bytes = (int)n;
			}
			if (path[n] == '\0')
				break;
		}
	}
	return nearest ? text_of("%.*s", nearest_bytes, nearest) : NULL;
}
