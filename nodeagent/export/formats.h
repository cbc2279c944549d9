/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of each format, for the table in export.c. */
#ifndef VFTR_NODEAGENT_EXPORT_FORMATS_H
#define VFTR_NODEAGENT_EXPORT_FORMATS_H

#include <stdbool.h>

struct exporter;
struct export_event;

#define EXPORT_FORMAT(name)                                                                        \
	void *name##_begin(struct exporter *x);                                                    \
	void name##_event(void *state, const struct export_event *e);                              \
	void name##_end(void *state, bool good)

EXPORT_FORMAT(perfetto);
EXPORT_FORMAT(chrome);
EXPORT_FORMAT(otf2);
EXPORT_FORMAT(paraver);
EXPORT_FORMAT(folded);
EXPORT_FORMAT(speedscope);
void *classic_begin(struct exporter *x);
void classic_end(void *state, bool good);

#endif
