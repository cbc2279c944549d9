/* SPDX-License-Identifier: BSD-3-Clause */
/* Shares, rates and costs out of the numbers of a view. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_SHARES_H
#define VFTR_NODEAGENT_TOOL_TOP_SHARES_H

#include <stddef.h>
#include <stdint.h>

struct live_off;
struct live_view;

/* part in percent of all; 0 if all is 0. */
double percent_of(uint64_t part, uint64_t all);
/* n per second. interval: ns; NAN if it is 0. */
double rate_of(uint64_t n, uint64_t interval);
/* The time of threads, ns: the sum of the classes (enum live_class) that do not overlap. */
uint64_t thread_time(const uint64_t *classes);
/* Name of an agent's node; belongs to the view. NULL: the view does not have it. */
const char *host_of(const struct live_view *v, uint32_t agent);
/*
 * The cost of tracing in percent of the time of all threads: hooks and wrappers, which is an
 * estimate, and waits for room in rings. NAN if the view has no time.
 */
double cost_percent(const struct live_view *v);
/* The bytes of the innermost function's name in a path "f<g": up to the first `<' without a `>'. */
size_t path_name_bytes(const char *path);

/* The row of the functions of this name that are off (name "": of all recording that is paused);
 * belongs to the view. NULL: there is none. */
const struct live_off *off_named(const struct live_view *v, const char *name);

#endif
