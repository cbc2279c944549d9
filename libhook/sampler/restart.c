/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A timer of CPU time ends while its thread runs, so hardly ever in a call that waits, but it may
 * on the way into it. The registers have the arguments still; the call's number is in the
 * instruction before. Where it is not, the program sees EINTR.
 *
 * EINTR may be of another signal, too, whose handler has just returned, and the program may wait
 * for nothing else: then the call must not be made again. It is ours alone if the call itself let
 * our signal in, as ppoll() does, for then its mask would be back after another handler; and where
 * the program has no handler.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include "libhook/sampler/sampler.h"

#if defined(__x86_64__)

/* Calls that a signal ends with EINTR despite SA_RESTART, by signal(7), and that have done nothing
 * then. */
static const uint16_t calls[] = {SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6, SYS_epoll_wait,
	SYS_epoll_pwait, SYS_nanosleep, SYS_clock_nanosleep, SYS_pause, SYS_rt_sigsuspend,
	SYS_rt_sigtimedwait, SYS_futex, SYS_semop, SYS_semtimedop, SYS_msgrcv, SYS_msgsnd,
	SYS_io_getevents, SYS_recvfrom, SYS_recvmsg, SYS_accept, SYS_accept4};

#define PAGE_LEFT(address) ((uintptr_t)(address)&4095)
#define MOV_BYTES	   5 /* mov $number, %eax */
#define SYSCALL_BYTES	   2

static bool may_be_made_again(uint32_t number)
{
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == number)
			return true;
	return false;
}

static bool is_ours_alone(const ucontext_t *c)
{
	return (c->uc_sigmask.__val[0] >> (SAMPLER_SIGNAL - 1) & 1) ||
	       !load_relaxed(&vftr_sampler.caught);
}

void vftr_sampler_restart(ucontext_t *c)
{
	mcontext_t *m = &c->uc_mcontext;
	const unsigned char *next = (const unsigned char *)m->gregs[REG_RIP];
	const unsigned char *call = next - SYSCALL_BYTES, *mov = call - MOV_BYTES;
	uint32_t number = 0;

	/* all on one page, with the byte before, which would make it another instruction */
	if (m->gregs[REG_RAX] != -EINTR || PAGE_LEFT(next) <= SYSCALL_BYTES + MOV_BYTES)
		return;
	if (call[0] != 0x0f || call[1] != 0x05 || mov[0] != 0xb8 || (mov[-1] & 0xf0) == 0x40)
		return;
	for (unsigned i = 4; i > 0; i--)
		number = number << 8 | mov[i];
	if (!may_be_made_again(number) || !is_ours_alone(c))
		return;
	m->gregs[REG_RAX] = number;
	m->gregs[REG_RIP] -= SYSCALL_BYTES;
}

#else

void vftr_sampler_restart(ucontext_t *c)
{
}

#endif
