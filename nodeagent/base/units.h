/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers for people: three digits and a unit, "12.3 MiB", "4.50 us", "1.23 M". Smaller
 * numbers than the smallest unit keep that; 0 has no decimals. NAN and infinite values are
 * "----".
 */
#ifndef VFTR_NODEAGENT_BASE_UNITS_H
#define VFTR_NODEAGENT_BASE_UNITS_H

#include <stdint.h>

struct quantity {
	char text[32];
};

/* ns, us, ms, s; from 1000 s on whole seconds. */
struct quantity quantity_seconds(double seconds);
/* B, KiB, MiB ... EiB. */
struct quantity quantity_bytes(double bytes);
/* Below 1000 as it is; then k, M, G, T, P, E. */
struct quantity quantity_count(double count);
/* All digits, in groups of three: "28 740". */
struct quantity quantity_grouped(uint64_t count);

#endif
