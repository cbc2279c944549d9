/* SPDX-License-Identifier: BSD-3-Clause */
/* One line on what an export has made. */
#ifndef VFTR_NODEAGENT_TOOL_EXPORT_WROTE_H
#define VFTR_NODEAGENT_TOOL_EXPORT_WROTE_H

#include <stddef.h>

struct export_format;
struct export_options;
struct vfd_file;

/* Prints it on standard error. o->output: what was written; nothing is printed if it is "-". */
void export_wrote(const struct export_format *format, const struct export_options *o,
	struct vfd_file *const *files, size_t n);

#endif
