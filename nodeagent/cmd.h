/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Subcommands of `vftr`, one file cmd-NAME.c each. argv[0] is the subcommand's
 * own name ("doctor"); what follows it are its arguments, and argv[argc] is
 * NULL. The return value is the exit status: 0 yes or done, 1 no or failed,
 * 2 wrong usage (said on stderr with complain()). `--help` prints the usage on
 * stdout and returns 0. The name must also stand in the table of vftr.c.
 */
#ifndef VFTR_NODEAGENT_CMD_H
#define VFTR_NODEAGENT_CMD_H

#include <stdbool.h>

int cmd_collate(int argc, char **argv);
int cmd_config(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_dump(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_flags(int argc, char **argv);
int cmd_histogram(int argc, char **argv);

/*
 * The tools of Vftrace: if `name` is that of one, runs it with its own command line
 * and sets *status. (cmd-vftrace.c)
 */
bool vftrace_link(const char *name, int argc, char **argv, int *status);

#endif
