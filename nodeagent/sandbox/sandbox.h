/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes rights away from a process for good, so that whoever exploits a mistake in code that reads
 * foreign files and messages gains less: system calls, by a filter of the kernel (seccomp), and the
 * rights of set-user-ID programs (no-new-privileges). A refused call fails with EPERM, or with
 * ENOSYS where the C library then makes another call; it does not end the process.
 *
 * The filter is inherited by children. So it is never set in a process that has yet to execute the
 * traced command, nor in one that such a process comes from: COMMAND is a child of the supervisor,
 * or this process is a child of what becomes COMMAND.
 */
#ifndef VFTR_NODEAGENT_SANDBOX_SANDBOX_H
#define VFTR_NODEAGENT_SANDBOX_SANDBOX_H

#include <stdbool.h>

enum sandbox_kind {
	/*
	 * The agent and its proxy, once they have started: no programs, no tracing of others by
	 * ptrace(), nothing that only an administrator may do.
	 */
	SANDBOX_AGENT,
	/* A tool that reads files and says what is in them: no network, too. */
	SANDBOX_TOOL,
	/* Reads one foreign file, and writes to descriptors that it has: a list of what is left. */
	SANDBOX_READER,
};

/*
 * For all threads of this process. False: the kernel has no such filter, or somebody else's refuses
 * it; then nothing has changed but, maybe, no-new-privileges. May be called more than once.
 */
bool sandbox_enter(enum sandbox_kind kind);

#endif
