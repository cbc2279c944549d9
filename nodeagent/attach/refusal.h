/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a process cannot be looked at from outside. */
#ifndef VFTR_NODEAGENT_ATTACH_REFUSAL_H
#define VFTR_NODEAGENT_ATTACH_REFUSAL_H

/* A sentence without a full stop, "process 12 ...", which the caller frees; or NULL. */
char *attach_refusal(int pid);

#endif
