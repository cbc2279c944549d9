/* SPDX-License-Identifier: BSD-3-Clause */
/* What people read of a view: shares and rates. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_SHARES_H
#define VFTR_NODEAGENT_TOOL_TOP_SHARES_H

#include <stddef.h>
#include <stdint.h>

struct live_off;
struct live_view;

/* 0 of nothing. */
double percent_of(uint64_t part, uint64_t all);
/* NAN without an interval, which is in ns. */
double rate_of(uint64_t n, uint64_t interval);
/* Sum of the classes that do not overlap, in ns. */
uint64_t thread_time(const uint64_t *classes);
/* Of a node in the view, else NULL; belongs to the view. */
const char *host_of(const struct live_view *v, uint32_t agent);
/*
 * What tracing takes of the time of all threads: hooks and wrappers, which is an estimate, and
 * waiting for room in rings. NAN without a "now".
 */
double cost_percent(const struct live_view *v);
/* The bytes of the function's own name in a path; `<' of a template has a partner. */
size_t path_name_bytes(const char *path);

/* The row of the functions of a name that are off, or NULL; belongs to the view. */
const struct live_off *off_named(const struct live_view *v, const char *name);

#endif
