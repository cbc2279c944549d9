/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a process cannot be looked at from outside. */
#ifndef VFTR_NODEAGENT_ATTACH_REFUSAL_H
#define VFTR_NODEAGENT_ATTACH_REFUSAL_H

/*
 * A sentence without a full stop, "process 12 ...", which the caller frees; or NULL. *shortage: an
 * errno if that is for want of descriptors or memory, else 0; it may be NULL.
 */
char *attach_refusal(int pid, int *shortage);
/* What errno says, for a sentence; what to do about it, for descriptors. A static text. */
const char *attach_shortage(int error);

#endif
