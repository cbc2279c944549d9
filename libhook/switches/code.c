/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/switches/code.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libhook/process.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#define PATIENCE 1000u /* looks at what another thread holds for some microseconds */

static uint32_t changing;

int vftr_code_open(void)
{
	return (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/mem", O_RDWR | O_CLOEXEC);
}

void vftr_code_close(int fd)
{
	syscall(SYS_close, fd);
}

bool vftr_code_read(int fd, uint64_t at, void *to, size_t bytes)
{
	return syscall(SYS_pread64, fd, to, bytes, at) == (long)bytes;
}

bool vftr_code_write(int fd, uint64_t at, const void *from, size_t bytes)
{
	return syscall(SYS_pwrite64, fd, from, bytes, at) == (long)bytes;
}

void *vftr_code_map(uint64_t at, size_t bytes)
{
	void *p = mmap((void *)(uintptr_t)at, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if ((uintptr_t)p == at) /* kernels before 4.17 take it as a hint */
		return p;
	munmap(p, bytes);
	return NULL;
}

static void go_on_as_before(const struct code_change *before)
{
	cancel_restore(before->cancel);
	pthread_sigmask(SIG_SETMASK, &before->signals, NULL);
}

bool vftr_code_change_begin(struct code_change *before)
{
	unsigned looks = PATIENCE;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before->signals);
	before->cancel = cancel_off();
	while (!claim_u32(&changing, 0, 1)) {
		if (!looks--) {
			go_on_as_before(before);
			return false;
		}
		sched_yield();
	}
	return true;
}

void vftr_code_change_end(const struct code_change *before)
{
	store_release(&changing, 0); /* pairs with claim_u32() of the next one */
	go_on_as_before(before);
}

void vftr_code_change_forget(void)
{
	store_relaxed(&changing, 0);
}
