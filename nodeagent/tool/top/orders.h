/* SPDX-License-Identifier: BSD-3-Clause */
/* Orders of `vftr top' to all nodes, without a screen: each is said again until all have it. */
#ifndef VFTR_NODEAGENT_TOOL_TOP_ORDERS_H
#define VFTR_NODEAGENT_TOOL_TOP_ORDERS_H

#include <stdbool.h>

struct live_view;
struct viewer;

/*
 * A function goes off, or on again; name empty: all recording pauses, or goes on. v: room for a
 * view. Prints what has become of it. Exit status; what is wrong has been said.
 */
int order_function(struct viewer *w, struct live_view *v, const char *name, bool off);

#endif
