/* SPDX-License-Identifier: BSD-3-Clause */
/* What a command runs in the end, and the name that a user has for it. */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_PROGRAM_NAME_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_PROGRAM_NAME_H

#include <stdbool.h>

/*
 * The words of COMMAND from its program on: what its launcher starts, behind programs that only
 * start another one (timeout, env, nice). COMMAND itself if that is not known.
 */
char *const *program_words(char *const *command);

/* A shell, by its name: what it runs may be anything. */
bool is_shell(const char *program);
/* That, or one of another language: it runs a script, and nobody compiles it for tracing. */
bool is_interpreter(const char *program);

/* A file that begins with #!. */
bool is_script(const char *path);

/*
 * "ring" for mpirun -np 4 ./ring; "train" for python3 -u train.py, and the like for other
 * interpreters. Can be part of a file's name; the caller frees.
 */
char *name_of_command(char *const *command);

#endif
