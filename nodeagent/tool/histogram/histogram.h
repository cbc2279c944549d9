/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and draws the message sizes of a run, for `vftr histogram`. */
#ifndef VFTR_NODEAGENT_TOOL_HISTOGRAM_HISTOGRAM_H
#define VFTR_NODEAGENT_TOOL_HISTOGRAM_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Classes of sizes: class 0 is 0 bytes, class i from 2^(i-1) to below 2^i bytes. */
#define HISTOGRAM_CLASSES 65

enum histogram_way { HISTOGRAM_SENDS, HISTOGRAM_RECEIVES, HISTOGRAM_WAYS };

struct histogram {
	char *file; /* as named */
	uint64_t ranks;
	bool has_no_mpi; /* these are processes */
	uint64_t messages[HISTOGRAM_WAYS][HISTOGRAM_CLASSES];
	uint64_t bytes[HISTOGRAM_WAYS][HISTOGRAM_CLASSES];
};

/* The part of it that is drawn; one way is shown at least. */
struct histogram_view {
	bool shown[HISTOGRAM_WAYS];
	bool bytes; /* volume instead of numbers of messages */
};

/*
 * Reads file, which is BASE_all.json or a node profile. Returns 0 and *error = NULL, or -1 and
 * *error, "FILE: why" (caller frees). The caller frees h->file in any case.
 */
int histogram_read(const char *file, struct histogram *h, char **error);

/*
 * histogram_values(): the values of one way in the view, by class; they belong to h.
 * histogram_range(): the greatest value in the view, and the first and last class with a value; 0:
 * there is none, and *first and *last stay as they are.
 */
const uint64_t *histogram_values(
	const struct histogram *h, const struct histogram_view *v, enum histogram_way way);
uint64_t histogram_range(
	const struct histogram *h, const struct histogram_view *v, unsigned *first, unsigned *last);
/* Writes "1 KiB", the least size of a class, to label, which has room for so many bytes. */
void histogram_label(unsigned class, char *label, size_t bytes);
/* Writes "3.2 MiB" or "1234", by the view, to text, which has room for so many bytes. */
void histogram_amount(const struct histogram_view *v, double value, char *text, size_t bytes);

/* Prints bars of '#', for a terminal of 80 columns. */
void histogram_print(const struct histogram *h, const struct histogram_view *v, FILE *f);
/* Writes one SVG picture with a panel for each of the n. */
void histogram_svg(const struct histogram *all, size_t n, const struct histogram_view *v, FILE *f);

#endif
