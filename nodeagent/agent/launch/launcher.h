/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about mpirun, mpiexec and srun, for starting programs through them. */
#ifndef VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_H
#define VFTR_NODEAGENT_AGENT_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

enum launcher_kind { LAUNCHER_NONE, LAUNCHER_OPENMPI, LAUNCHER_HYDRA, LAUNCHER_SLURM };

/* The kind of launcher that argv[0] is, by the name of the file that it leads to, or by what is in
 * that (launcher-file.h). */
enum launcher_kind launcher_kind(const char *argv0);

/* Finds the file that would be run by this name; path: PATH_MAX bytes. False: none. */
bool launcher_resolve(const char *name, char *path);

/* A program whose arguments are a command that it becomes, or waits for: timeout, env, nice ... */
bool launcher_starts_another(const char *word);

/*
 * The words of a command from its launcher on, which is the first word, or comes after
 * programs that only start another one, as timeout, env or nice. NULL: there is none.
 */
char *const *launcher_words(char *const *command);

/*
 * NULL if agents can be started beside this command; else a sentence with the reason and a
 * way out, which the caller frees.
 */
char *launcher_refusal(char *const *command);

/* The program that the launcher starts, as it was written; without a launcher the first word;
 * NULL: unknown. */
const char *launcher_program(char *const *command);

/* True if the launcher's options, or the batch system's environment, name other nodes, too. */
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
 * NAME=VALUE, NULL-terminated) to the started processes; NAME=VALUE is for variables that
 * the launcher itself must not see. nodes: those on which srun starts processes, or NULL.
 */
void launcher_pass_environment(
	char *const *command, char *const *variables, const char *nodes, struct arguments *out);

/* True if srun would choose some of the job's nodes: then it must get those with agents. */
bool launcher_chooses_nodes(char *const *command);

/*
 * Our environment for the agents' launcher, NULL-terminated, with the variables that `env
 * NAME=VALUE' in front of the command sets; the caller frees the array, not the texts. Slurm's
 * steps may overlap the command's. If the agents' launcher is the command's srun (command NULL:
 * it is not), variables for the command's step are left out.
 */
char **launcher_agents_environment(char *const *command);

/*
 * Adds the command's launcher, those of its options that say where and how to start
 * (hosts, remote shell, interface ...), then options that place one unbound process
 * on each node. Adds nothing without a launcher.
 */
void launcher_one_per_node(char *const *command, struct arguments *out);

#endif
