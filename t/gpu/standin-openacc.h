/* SPDX-License-Identifier: BSD-3-Clause */
/* A runtime of OpenACC without a device or a compiler: it tells what it is told to tell. */
#ifndef VFTR_T_STANDIN_OPENACC_H
#define VFTR_T_STANDIN_OPENACC_H

#include "libhook/accelerator/openacc-tool.h"

#define ALL  0	  /* valid_bytes of a whole structure */
#define NONE (-1) /* no structure: a null pointer */

struct standin_event {
	int event, parent;
	const char *file;
	int line, last;
	const char *function, *name;
	size_t bytes;
	int prof_bytes, event_bytes; /* valid_bytes, ALL or NONE */
};

/* To all callbacks for this event, on the calling thread. */
void standin_tell(struct standin_event e);
/* How many callbacks there are for all events together. */
int standin_callbacks(void);

void acc_prof_register(int event, acc_callback callback, int how);
void acc_prof_unregister(int event, acc_callback callback, int how);

#endif
