/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading and writing the program's code, through /proc/self/mem: that changes no protection of
 * memory, and an address without memory is an error instead of a crash.
 */
#ifndef VFTR_LIBHOOK_SWITCHES_CODE_H
#define VFTR_LIBHOOK_SWITCHES_CODE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A descriptor for the functions below, which the caller closes with vftr_code_close(), or -1. */
int vftr_code_open(void);
void vftr_code_close(int fd);

/* True if all bytes were read, or written. What is written is seen at once, in no order. */
bool vftr_code_read(int fd, uint64_t at, void *to, size_t bytes);
bool vftr_code_write(int fd, uint64_t at, const void *from, size_t bytes);

/*
 * Memory of so many bytes at an address, both multiples of a page's, to write code to, which the
 * caller makes executable and unmaps. NULL: something is there, or there is no memory.
 */
void *vftr_code_map(uint64_t at, size_t bytes);

/* What the thread had before: it is neither interrupted nor cancelled while it changes code. */
struct code_change {
	sigset_t signals;
	int cancel;
};

/* One thread changes code at a time. False if another one has not ended it for some microseconds;
 * then there is nothing to end. */
bool vftr_code_change_begin(struct code_change *before);
void vftr_code_change_end(const struct code_change *before);

/* To be called first in a child of fork(): a thread of the parent may have been changing code. */
void vftr_code_change_forget(void);

#pragma GCC visibility pop

#endif
