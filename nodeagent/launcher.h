/* SPDX-License-Identifier: BSD-3-Clause */
/* What we must know of mpirun, mpiexec and srun to start programs through them. */
#ifndef VFTR_NODEAGENT_LAUNCHER_H
#define VFTR_NODEAGENT_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

enum launcher_kind { LAUNCHER_NONE, LAUNCHER_OPENMPI, LAUNCHER_HYDRA, LAUNCHER_SLURM };

/* How argv[0] starts processes: by the name of the file behind it. */
enum launcher_kind launcher_kind(const char *argv0);

/* The file that would be run by this name: PATH_MAX bytes. False: none is executable. */
bool launcher_resolve(const char *name, char *path);

/*
 * The words of a command from its launcher on: the first one, or behind programs that
 * only start another one, as timeout, env or nice. NULL: there is none.
 */
char *const *launcher_words(char *const *command);

/*
 * Why agents cannot be started beside this command, as a sentence with what to do instead;
 * NULL: they can. The caller frees.
 */
char *launcher_refusal(char *const *command);

/* The program that the launcher starts, as it was written; the first word where there is no
 * launcher; NULL: unknown. */
const char *launcher_program(char *const *command);

/* Do the launcher's options, or the batch system's environment, name more than this node? */
bool launcher_is_distributed(char *const *command);

/* A growing, NULL-terminated argument list; texts are copied. */
struct arguments {
	char **v;
	size_t n, cap;
};
void arguments_add(struct arguments *a, const char *text);
void arguments_free(struct arguments *a);

/*
 * The command with options of its launcher inserted that hand the variables (NAME or
 * NAME=VALUE, NULL-terminated) to the started processes; NAME=VALUE is for those that
 * the launcher itself must not see. nodes: where srun is to start them, or NULL.
 */
void launcher_pass_environment(
	char *const *command, char *const *variables, const char *nodes, struct arguments *out);

/* Will srun choose some of the job's nodes? Then it is told those that have agents. */
bool launcher_chooses_nodes(char *const *command);

/*
 * Our environment for the agents' launcher, NULL-terminated, with what `env NAME=VALUE' sets in
 * front of the command's; the array is the caller's, the texts are not. Steps of Slurm's may
 * overlap the command's. Where the agents' launcher is the srun of the command (NULL: it is
 * not), without what is meant for the command's step.
 */
char **launcher_agents_environment(char *const *command);

/*
 * The command's launcher, and those of its options that say where and how to start
 * (hosts, remote shell, interface ...), then what places one unbound process
 * on each node. Nothing, if there is none.
 */
void launcher_one_per_node(char *const *command, struct arguments *out);

#endif
