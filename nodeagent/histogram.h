/* SPDX-License-Identifier: BSD-3-Clause */
/* The message sizes of a run, for `vftr histogram`: reading and drawing them. */
#ifndef VFTR_NODEAGENT_HISTOGRAM_H
#define VFTR_NODEAGENT_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Classes of sizes: 0 bytes alone, then from 2^(i-1) to below 2^i. */
#define HISTOGRAM_CLASSES 65

enum histogram_way { HISTOGRAM_SENDS, HISTOGRAM_RECEIVES, HISTOGRAM_WAYS };

struct histogram {
	char *file;
	uint64_t ranks;
	uint64_t messages[HISTOGRAM_WAYS][HISTOGRAM_CLASSES];
	uint64_t bytes[HISTOGRAM_WAYS][HISTOGRAM_CLASSES];
};

/* What of it is drawn. */
struct histogram_view {
	bool shown[HISTOGRAM_WAYS];
	bool bytes; /* volume instead of numbers of messages */
};

/*
 * FILE is BASE_all.json or a node profile. 0, or -1 and *error, "FILE: why" (caller
 * frees). The caller frees h->file in any case.
 */
int histogram_read(const char *file, struct histogram *h, char **error);

/* Values of one way in the view, and the first and last class with any; false: none at all. */
const uint64_t *histogram_values(
	const struct histogram *h, const struct histogram_view *v, enum histogram_way way);
bool histogram_range(
	const struct histogram *h, const struct histogram_view *v, unsigned *first, unsigned *last);
/* "1 KiB": the least size of a class, or `0 B`. */
void histogram_label(unsigned class, char *label, size_t bytes);
/* "3.2 MiB" or "1234", as the view counts. */
void histogram_amount(const struct histogram_view *v, double value, char *text, size_t bytes);

/* Bars of '#', for a terminal of 80 columns. */
void histogram_print(const struct histogram *h, const struct histogram_view *v, FILE *f);
/* One picture of all, a panel each. */
void histogram_svg(const struct histogram *all, size_t n, const struct histogram_view *v, FILE *f);

#endif
