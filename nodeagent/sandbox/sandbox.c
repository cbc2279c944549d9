/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs for the kernel's filter, made from lists of system calls. */
#include "nodeagent/sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nodeagent/sandbox/internal.h"

#if defined(__x86_64__)
#define OUR_ARCH   AUDIT_ARCH_X86_64
#define FOREIGN_NR 0x40000000u /* x32 */
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef OUR_ARCH

#define STEPS_MOST 320

/*
 * A filter is no reason to slow down what runs under it, and what shares its core, as Linux before
 * 5.16 else does, for programs that run foreign code: that, we do not.
 */
#ifdef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define FULL_SPEED SECCOMP_FILTER_FLAG_SPEC_ALLOW
#else
#define FULL_SPEED 0
#endif
#define NAMESPACES                                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | \
		CLONE_NEWCGROUP)

struct program {
	struct sock_filter step[STEPS_MOST];
	unsigned short n;
};

static void add_step(struct program *p, struct sock_filter step)
{
	if (p->n < STEPS_MOST)
		p->step[p->n++] = step;
}

static void load_word(struct program *p, size_t offset)
{
	add_step(p, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset));
}

static void give_verdict(struct program *p, unsigned verdict)
{
	add_step(p, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict));
}

/* The next `steps` are for what is loaded being, or having bits of, `value`; others go on. */
static void test_word(struct program *p, unsigned short how, unsigned value, unsigned char steps)
{
	add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, value, 0, steps));
}

/* Allowed with n values of one argument, of which the kernel takes the lower half; else refused. */
static void allow_with(
	struct program *p, int number, size_t argument, const unsigned *values, unsigned char n)
{
	test_word(p, BPF_JEQ, (unsigned)number, 2 + 2 * n);
	load_word(p, argument);
	for (unsigned char i = 0; i < n; i++) {
		test_word(p, BPF_JEQ, values[i], 1);
		give_verdict(p, SECCOMP_RET_ALLOW);
	}
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
}

static void refuse_call(struct program *p, int number, unsigned error)
{
	test_word(p, BPF_JEQ, (unsigned)number, 1);
	give_verdict(p, SECCOMP_RET_ERRNO | error);
}

/* Calls of other architectures have other numbers: there are none of them here. */
static void check_architecture(struct program *p)
{
	load_word(p, offsetof(struct seccomp_data, arch));
	add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OUR_ARCH, 1, 0));
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
	load_word(p, offsetof(struct seccomp_data, nr));
#ifdef FOREIGN_NR
	add_step(p, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, FOREIGN_NR, 0, 1));
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
#endif
}

static void refuse_all(struct program *p, const struct sandbox_calls *c)
{
	for (size_t i = 0; i < c->n; i++)
		refuse_call(p, c->number[i], EPERM);
}

/*
 * Threads and processes, but no namespaces. What clone3() is asked for is not in its registers;
 * without it the C library takes clone().
 */
static void refuse_namespaces(struct program *p)
{
#ifdef SYS_clone3
	refuse_call(p, SYS_clone3, ENOSYS);
#endif
	test_word(p, BPF_JEQ, SYS_clone, 4);
	load_word(p, offsetof(struct seccomp_data, args[0])); /* its lower half: little endian */
	test_word(p, BPF_JSET, NAMESPACES, 1);
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
	give_verdict(p, SECCOMP_RET_ALLOW);
}

static void refuse_administration(struct program *p)
{
	refuse_all(p, &sandbox_never);
	refuse_namespaces(p);
}

/* By these a process can end another one, too: by limits, or by signals when a file is ready. */
static void only_itself(struct program *p)
{
	const unsigned me = (unsigned)getpid(), caller = 0,
		       flags[] = {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC};

	allow_with(p, SYS_tgkill, offsetof(struct seccomp_data, args[0]), &me, 1);
	allow_with(p, SYS_prlimit64, offsetof(struct seccomp_data, args[0]), &caller, 1);
	allow_with(p, SYS_fcntl, offsetof(struct seccomp_data, args[1]), flags,
		sizeof(flags) / sizeof(flags[0]));
}

/* What is open stays as it was; files are opened to be read. */
static void only_reading(struct program *p)
{
	only_itself(p);
	test_word(p, BPF_JEQ, SYS_openat, 4);
	load_word(p, offsetof(struct seccomp_data, args[2]));
	test_word(p, BPF_JSET, O_ACCMODE | O_CREAT | O_TRUNC, 1);
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
	give_verdict(p, SECCOMP_RET_ALLOW);
	for (size_t i = 0; i < sandbox_reading.n; i++) {
		test_word(p, BPF_JEQ, (unsigned)sandbox_reading.number[i], 1);
		give_verdict(p, SECCOMP_RET_ALLOW);
	}
	give_verdict(p, SECCOMP_RET_ERRNO | EPERM);
}

static bool install_program(const struct program *p)
{
	const struct sock_fprog f = {.len = p->n, .filter = (struct sock_filter *)p->step};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return false;
	if (!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC | FULL_SPEED,
		    &f))
		return true;
	return FULL_SPEED && errno == EINVAL && /* Linux 4.14 to 4.16 */
	       !syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &f);
}

bool sandbox_enter(enum sandbox_kind kind)
{
	struct program p = {.n = 0};

	check_architecture(&p);
	if (kind == SANDBOX_READER) {
		only_reading(&p);
	} else {
		refuse_administration(&p);
		if (kind == SANDBOX_TOOL)
			refuse_all(&p, &sandbox_outside);
		give_verdict(&p, SECCOMP_RET_ALLOW);
	}
	return p.n < STEPS_MOST && install_program(&p);
}

#else /* what a call's number means is not known here */

bool sandbox_enter(enum sandbox_kind kind)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return false;
}

#endif
