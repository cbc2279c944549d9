/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which system calls: lists of names, which architectures and kernel headers may lack. What a
 * sanitizer does at its end (it looks at all threads by ptrace) is left to it.
 */
#include <sys/syscall.h>

#include "nodeagent/sandbox/internal.h"

#if defined(__SANITIZE_ADDRESS__)
#define WITH_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_SANITIZER 1
#endif
#endif

static const int never[] = {
	/* other programs, and other processes' memory and files */
	SYS_execve,
	SYS_execveat,
#ifndef WITH_SANITIZER
	SYS_ptrace,
#endif
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
	/* other users and rights */
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setfsuid,
	SYS_setfsgid,
	SYS_setgroups,
	SYS_capset,
	SYS_personality,
	SYS_add_key,
	SYS_request_key,
	SYS_keyctl,
	/* other views of the file system */
	SYS_chroot,
	SYS_pivot_root,
	SYS_mount,
	SYS_umount2,
	SYS_unshare,
	SYS_setns,
	SYS_open_by_handle_at,
	SYS_mknodat,
	SYS_swapon,
	SYS_swapoff,
	SYS_quotactl,
	SYS_acct,
	SYS_fanotify_init,
#ifdef SYS_mknod
	SYS_mknod,
#endif
#ifdef SYS_open_tree
	SYS_open_tree,
	SYS_move_mount,
	SYS_fsopen,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fspick,
#endif
#ifdef SYS_mount_setattr
	SYS_mount_setattr,
#endif
	/* the kernel and the machine */
	SYS_bpf,
	SYS_userfaultfd,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
#ifdef SYS_kexec_file_load
	SYS_kexec_file_load,
#endif
	SYS_reboot,
	SYS_syslog,
	SYS_vhangup,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_clock_adjtime,
	SYS_adjtimex,
#ifdef SYS_iopl
	SYS_iopl,
	SYS_ioperm,
	SYS_modify_ldt,
#endif
};

static const int outside[] = {
	/* the network */
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
#ifdef SYS_io_uring_setup
	SYS_io_uring_setup, /* by which the kernel does the same, and asks no filter */
#endif
	/* other processes, but what ends this one; MPI moves messages by the first two */
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_perf_event_open,
#ifdef SYS_pidfd_open
	SYS_pidfd_open,
	SYS_pidfd_send_signal,
#endif
	SYS_rt_sigqueueinfo,
	SYS_tkill,
};

static const int reading[] = {
	/* files; openat() and fcntl() are looked at more closely */
	SYS_read,
	SYS_readv,
	SYS_pread64,
	SYS_write,
	SYS_writev,
	SYS_close,
	SYS_lseek,
	SYS_fstat,
	SYS_statx,
	SYS_newfstatat,
	SYS_faccessat,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_getdents64,
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_stat
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
#endif
	/* memory */
	SYS_brk,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	/* itself */
	SYS_exit,
	SYS_exit_group,
	SYS_futex,
	SYS_rt_sigreturn,
	SYS_rt_sigprocmask,
	SYS_rt_sigaction,
	SYS_sigaltstack,
	SYS_getpid,
	SYS_gettid,
	SYS_getrlimit,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_gettimeofday,
	SYS_clock_nanosleep,
	SYS_sched_yield,
	SYS_sysinfo,
};

#define LIST(calls)                                                                                \
	{                                                                                          \
		calls, sizeof(calls) / sizeof((calls)[0])                                          \
	}

const struct sandbox_calls sandbox_never = LIST(never);
const struct sandbox_calls sandbox_outside = LIST(outside);
const struct sandbox_calls sandbox_reading = LIST(reading);
