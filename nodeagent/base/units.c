/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "nodeagent/base/util.h"

/* Three digits; what rounding would make four of has no decimals. */
static int decimals_of(double value)
{
	const double size = fabs(value);

	return size >= 99.95 || size == 0.0 ? 0 : size >= 9.995 ? 1 : 2;
}

static struct quantity print_in(double value, int decimals, const char *unit)
{
	struct quantity q = {"----"};

	if (isfinite(value))
		snprintf(q.text, sizeof(q.text), fabs(value) < 1e15 ? "%.*f%s%s" : "%.*e%s%s",
			decimals, value, *unit ? " " : "", unit);
	return q;
}

/* In the greatest unit of which there is one, also if only after rounding. */
static struct quantity scaled(double value, double step, const char *const *units, size_t n)
{
	size_t i = 0;

	while (i + 1 < n && fabs(value) >= step - 0.5) {
		value /= step;
		i++;
	}
	return print_in(value, i || value != floor(value) ? decimals_of(value) : 0, units[i]);
}

struct quantity quantity_seconds(double seconds)
{
	static const char *const units[] = {"ns", "us", "ms"};

	if (fabs(seconds) >= 0.9995 || seconds == 0.0 || !isfinite(seconds))
		return print_in(seconds, decimals_of(seconds), "s");
	return scaled(seconds * 1e9, 1000.0, units, ARRAY_SIZE(units));
}

struct quantity quantity_bytes(double bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	return scaled(bytes, 1024.0, units, ARRAY_SIZE(units));
}

struct quantity quantity_count(double count)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};

	return scaled(count, 1000.0, units, ARRAY_SIZE(units));
}

struct quantity quantity_grouped(uint64_t count)
{
	struct quantity q;
	char digits[24], *to = q.text;
	int n = snprintf(digits, sizeof(digits), "%" PRIu64, count);

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*to++ = ' ';
		*to++ = digits[i];
	}
	*to = '\0';
	return q;
}
