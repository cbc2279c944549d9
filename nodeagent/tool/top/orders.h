/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Orders of `vftr top' to all nodes, without a screen: each order is sent again until all nodes
 * have it.
 */
#ifndef VFTR_NODEAGENT_TOOL_TOP_ORDERS_H
#define VFTR_NODEAGENT_TOOL_TOP_ORDERS_H

#include <stdbool.h>

struct live_view;
struct viewer;

/*
 * Switches a function off, or on again; name empty: pauses all recording, or lets it go on. v: room
 * for a view. Prints the result and returns 0, or a message and returns 1.
 */
int order_function(struct viewer *w, struct live_view *v, const char *name, bool off);

/*
 * Of an order that some nodes have not got: on how many it is, of those that have not ended, and
 * which do not answer. The caller frees it.
 */
char *order_partly(const struct viewer *w, const struct live_view *v, const char *name, bool off);

#endif
