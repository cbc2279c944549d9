/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about other processes, from the kernel. */
#ifndef VFTR_NODEAGENT_PROCESS_PROCFS_H
#define VFTR_NODEAGENT_PROCESS_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns 1 if the line of a mapping contains text, 0 if none does, -1 if there is no such process
 * or it has no memory any more, as it is exiting, and -2 if its mappings may not be read.
 */
int procfs_maps_has(int pid, const char *text);

/*
 * A hash of the files that are mapped as code and of their addresses; 0: no such process, or it is
 * exiting.
 */
uint64_t procfs_mapped_code(int pid);

/* True if paths mean other files to the process than to us: in a container, or after chroot(2). */
bool procfs_has_other_root(int pid);
/*
 * The text of its maps, with /proc/PID/root before the paths of files. NULL: no such process. The
 * caller frees it.
 */
char *procfs_maps_by_root(int pid);

/* The path of the file that is mapped at an address, as the process sees it; NULL: there is none,
 * or it cannot be told. The caller frees. */
char *procfs_mapped_file(int pid, uint64_t address);
/* Another path to that file, which was at `path`, by which it can be read though it was removed.
 * Needs the right to look at the process; but for the program that it runs, root's. NULL: no file
 * is mapped there any more, and it is not the program. The caller frees. */
char *procfs_removed_file(int pid, uint64_t address, const char *path);
/* Cuts off what the kernel writes behind the path of a file that was removed. False: there is
 * nothing of that, or the file has that name. */
bool procfs_cut_deleted(char *path);

/* Maps have "\012" for a newline in a path: reads it, unless a file has the name as it is. */
void procfs_read_newlines(char *path);

/* A number that identifies the file that the process runs, 0 if unknown. */
uint64_t procfs_program(int pid);

/*
 * When the process began, in ticks of the kernel since the machine did: it differs from that of an
 * earlier process with this pid. 0: there is none, or all its threads have ended.
 */
uint64_t procfs_began(int pid);

/* Pid of the parent of a process, 0 if unknown. */
int procfs_parent(int pid);

/* The value that a variable of its environment had when the program began. False: it had none, or
 * its first bytes - 1 characters are not all. */
bool procfs_variable(int pid, const char *name, char *value, size_t bytes);

/* The name of a thread, as prctl(2) sets it. False: there is no such thread. */
bool procfs_thread_name(int pid, int tid, char name[16]);

/* True if a signal has stopped the process, not a debugger. */
bool procfs_is_stopped(int pid);

/* The file may be executed and not read by this user: the kernel shows what runs it to root only.
 */
bool procfs_may_only_run(const char *path);

/* True if it runs a program with the rights of another user than we have, as by a setuid bit. */
bool procfs_has_other_user(int pid);

/* A number that changes whenever the process or a child of it has run, however briefly; 0 if
 * unknown. */
uint64_t procfs_work(int pid);

/* Status as from waitpid() of a process that ended and is not our child. False
 * if the kernel does not tell (older than 6.15, and already reaped). */
bool procfs_exit_status(int pidfd, int pid, int *status);

/*
 * ns in which a thread was ready to run and had no CPU, since it began. path: of its schedstat,
 * from the open folder dir, or AT_FDCWD. 0 also: not known.
 */
uint64_t procfs_queued_ns(int dir, const char *path);

/* What a process has had of the CPUs, in ns since it was made. */
struct cpu_used {
	uint64_t cpu;	 /* of all its threads; 0: not known */
	uint64_t queued; /* its first thread was ready to run and had no CPU; 0 also: not known */
};

/* All 0 if the kernel has forgotten it, as it does when the parent has waited for it. */
struct cpu_used cpu_used(int pid);
/* now - before; nothing if one of them is not known. */
struct cpu_used cpu_used_since(struct cpu_used now, struct cpu_used before);

#endif
