/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/counters.h"

#include <stdlib.h>

#include "nodeagent/base/util.h"

void counts_begin(struct counts_codec *c, uint64_t units)
{
	c->units = units;
	c->n = 0;
	if (c->n_last)
		memset(c->last, 0, c->n_last * sizeof(*c->last));
}

void counts_free(struct counts_codec *c)
{
	free(c->last);
	*c = (struct counts_codec){0};
}

static uint64_t *last_of(struct counts_codec *c, uint32_t counter)
{
	while (c->n_last <= counter) {
		const size_t more = counter < 32 ? 64 : 2 * (size_t)counter;

		c->last = xrealloc(c->last, more * sizeof(*c->last));
		memset(c->last + c->n_last, 0, (more - c->n_last) * sizeof(*c->last));
		c->n_last = more;
	}
	return &c->last[counter];
}

/* Round numbers have their bits on the left, where they would make varints long. */
static uint64_t reversed(uint64_t bits)
{
	return __builtin_bswap64(bits);
}

static bool same_counters(
	const struct counts_codec *c, const struct vfd_counts *counts, const bool *real)
{
	return c->n == counts->n &&
	       !memcmp(c->counters, counts->counters, c->n * sizeof(*c->counters)) &&
	       !memcmp(c->real, real, c->n * sizeof(*real));
}

unsigned char *counts_put(struct counts_codec *c, unsigned char *to, uint64_t units,
	const struct vfd_counts *counts, const bool *real)
{
	const bool other = !same_counters(c, counts, real);

	to = varint_put(to, zigzag((int64_t)(units - c->units)) << 1 | other);
	c->units = units;
	if (other) {
		c->n = counts->n;
		to = varint_put(to, c->n);
		for (uint32_t i = 0; i < c->n; i++) {
			c->counters[i] = counts->counters[i];
			c->real[i] = real[i];
			to = varint_put(to, (uint64_t)c->counters[i] << 1 | real[i]);
		}
	}
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t *last = last_of(c, c->counters[i]);
		const uint64_t value = counts->values[i];

		to = varint_put(
			to, real[i] ? reversed(value ^ *last) : zigzag((int64_t)(value - *last)));
		*last = value;
	}
	return to;
}

static bool get_counters(struct counts_codec *c, struct varint_reader *r, size_t most)
{
	const uint64_t n = varint_get(r);

	c->n = 0;
	if (!n || n > VFD_COUNTS_MOST)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint64_t what = varint_get(r);

		if (what >> 1 >= most || what >> 1 >= VFD_NONE)
			return false;
		c->counters[i] = (uint32_t)(what >> 1);
		c->real[i] = what & 1;
	}
	c->n = (uint32_t)n;
	return !r->bad;
}

bool counts_get(struct counts_codec *c, struct varint_reader *r, uint64_t *values, size_t most)
{
	const uint64_t word = varint_get(r);

	c->units += (uint64_t)unzigzag(word >> 1);
	if (c->units > INT64_MAX || (word & 1 && !get_counters(c, r, most)) || !c->n)
		return false;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t *last = last_of(c, c->counters[i]);
		const uint64_t value = varint_get(r);

		values[i] =
			c->real[i] ? *last ^ reversed(value) : *last + (uint64_t)unzigzag(value);
		*last = values[i];
	}
	return !r->bad;
}
