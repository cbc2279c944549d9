/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. */
#ifndef VFTR_LIBHOOK_SAMPLER_H
#define VFTR_LIBHOOK_SAMPLER_H

#include <signal.h>
#include <stdint.h>
#include <ucontext.h>
#include "libhook/process.h"
#include "shm/stack-samples.h"

/*
 * A signal that is ignored unless it is caught: one that comes late harms neither a program that
 * has removed its handler, nor one that this process has become by execve().
 */
#define SAMPLER_SIGNAL SIGURG

/* The value that our timers send: this mark in the upper half, the thread's id in the lower. */
#define SAMPLER_MARK	   ((uint64_t)0x56465453 << 32)
#define SAMPLER_VALUE(tid) (SAMPLER_MARK | (uint32_t)(tid))

struct sampler {
	struct ring ring;   /* shm/stack-samples.h */
	uint32_t on;	    /* the handler may write */
	uint64_t period_ns; /* of CPU time; 0: no samples are wanted */
	uint32_t caught; /* the program has, or may have, a handler, which may end a system call */
	struct sigaction before; /* what the program believes the signal does */
};

extern struct sampler vftr_sampler __attribute__((visibility("hidden")));

/* Bytes of stack that the handler needs, at most, besides those that the kernel stores. */
#define SAMPLER_STACK 2048u
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

/* True if one of our timers has sent the signal. */
static inline bool sampler_is_ours(const siginfo_t *info)
{
	const uint64_t value = (uint64_t)(uintptr_t)info->si_value.sival_ptr;

	return info->si_code == SI_TIMER && (value & ~(uint64_t)UINT32_MAX) == SAMPLER_MARK;
}

/*
 * From now on keeps vftr_sampler.caught up to date. Not in programs that are linked statically, as
 * calls of sigaction() are not seen there.
 */
void vftr_sampler_note_caught(void) __attribute__((weak, visibility("hidden")));

/*
 * To be called, without the lock, when the program uses the signal itself: stops all timers. Keeps
 * errno.
 */
void vftr_sampler_stop(void) __attribute__((visibility("hidden")));

/* Async-signal-safe, and leaves errno alone. Makes no system call, but to read a clock whose
 * reading is one. */
void vftr_sampler_handler(int number, siginfo_t *info, void *context)
	__attribute__((visibility("hidden")));

/*
 * If the signal, and surely no other, came just before, or in, a call that the kernel ends with
 * EINTR whatever the handler's flags are, as poll(): the thread makes this call again. For the
 * program it is as if the signal had come right before.
 */
void vftr_sampler_restart(ucontext_t *c) __attribute__((visibility("hidden")));

#endif
