/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/quota.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <sodium.h>

#include "nodeagent/base/util.h"

static uint64_t hash_of(const char *text, size_t bytes)
{
	static unsigned char key[crypto_shorthash_siphash24_KEYBYTES];
	static bool has_key;
	uint64_t hash;

	if (!has_key) { /* nobody can choose addresses that meet in the table */
		randombytes_buf(key, sizeof(key));
		has_key = true;
	}
	crypto_shorthash_siphash24((unsigned char *)&hash, (const unsigned char *)text, bytes, key);
	return hash | 1;
}

/* NULL: as many others are known already. */
static struct quota_source *source_of(struct quota *q, uint64_t hash)
{
	for (size_t i = 0; i < QUOTA_SOURCES; i++) {
		struct quota_source *s = &q->sources[(hash + i) % QUOTA_SOURCES];

		if (s->hash == hash)
			return s;
		if (s->hash)
			continue;
		s->hash = hash;
		q->n_sources++;
		return s;
	}
	return NULL;
}

bool quota_take(struct quota *q, const char *source, size_t bytes, const char *line)
{
	struct quota_source *s = source_of(q, hash_of(source, bytes));
	uint64_t last = line ? hash_of(line, strlen(line)) : 0;

	if (q->said < q->all && s && s->said < q->each && (!last || s->last != last)) {
		q->said++;
		s->said++;
		s->last = last;
		return true;
	}
	q->unsaid++;
	if (s && !s->silenced) {
		s->silenced = true;
		q->n_silenced++;
	}
	return false;
}

bool quota_more(struct quota *q, const char *what, char *out, size_t bytes)
{
	bool many = q->n_sources == QUOTA_SOURCES;

	if (!q->unsaid)
		return false;
	snprintf(out, bytes, "and %" PRIu64 " more %s about %s (of %s%u %s)", q->unsaid,
		one_or_many(q->unsaid, "line", "lines"), what, many ? "at least " : "",
		q->n_silenced, one_or_many(q->n_silenced, "address", "addresses"));
	q->unsaid = 0;
	q->n_silenced = 0;
	for (size_t i = 0; i < QUOTA_SOURCES; i++)
		q->sources[i].silenced = false;
	return true;
}
