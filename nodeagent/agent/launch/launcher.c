/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/agent/launch/launcher-file.h"
#include "nodeagent/agent/launch/launcher-options.h"
#include "nodeagent/agent/launch/launcher-slurm.h"
#include "nodeagent/base/util.h"

/* Names of the files that launchers' names lead to. */
static const struct {
	const char *part;
	enum launcher_kind kind;
} files[] = {
	{"orterun", LAUNCHER_OPENMPI},
	{"prterun", LAUNCHER_OPENMPI},
	{"openmpi", LAUNCHER_OPENMPI},
	{"hydra", LAUNCHER_HYDRA},
	{"mpich", LAUNCHER_HYDRA},
	{"srun", LAUNCHER_SLURM},
};

/* Launchers beside which we cannot start agents; the second word tells them from programs. */
static const struct {
	const char *name, *verbs; /* verbs: " run submit ", NULL: any */
} others[] = {
	{"aprun", NULL},
	{"ccc_mprun", NULL},
	{"flux", " run submit bulksubmit batch alloc mini exec start proxy "},
	{"ibrun", NULL},
	{"jsrun", NULL},
	{"lrun", NULL},
	{"mpprun", NULL},
	{"poe", NULL},
	{"prun", NULL},
	{"yhrun", NULL},
};

static bool is_executable(const char *path)
{
	struct stat st;

	return !access(path, X_OK) && !stat(path, &st) && S_ISREG(st.st_mode);
}

bool launcher_resolve(const char *name, char *path)
{
	char tried[PATH_MAX];
	const char *dirs = getenv("PATH");

	if (strchr(name, '/'))
		return is_executable(name) && realpath(name, path);
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		snprintf(tried, sizeof(tried), "%.*s/%s", (int)n, dirs, name);
		if (is_executable(tried) && realpath(tried, path))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

/* Names, or what they begin with; a program of the user's may have such a name, too. */
static const struct {
	const char *name, *question; /* which a file with exactly this name answers */
	bool is_whole;		     /* no name that only begins so is meant */
	bool is_many;		     /* it leads to any MPI's */
} names[] = {
	{"mpirun", "--version", false, true},
	{"mpiexec", "--version", false, true},
	{"cafrun", "--wraps", false, true},
	{"orterun", NULL, false, false},
	{"prterun", NULL, false, false},
	{"srun", NULL, true, false},
};

enum launcher_kind launcher_kind(const char *argv0)
{
	char path[PATH_MAX];
	const char *named = basename(argv0);
	size_t name = 0;

	while (name < ARRAY_SIZE(names) &&
		strncmp(named, names[name].name, strlen(names[name].name) + names[name].is_whole))
		name++;
	if (name == ARRAY_SIZE(names))
		return LAUNCHER_NONE;
	if (!launcher_resolve(argv0, path))
		return LAUNCHER_NONE;
	if (strstr(path, "/pals/"))
		return LAUNCHER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strstr(basename(path), files[i].part))
			return files[i].kind;
	return names[name].is_many
		       ? launcher_file_kind(path,
				 strcmp(named, names[name].name) ? NULL : names[name].question)
		       : LAUNCHER_NONE;
}

/* Coarrays of OpenCoarrays. */
static bool is_cafrun(const char *argv0)
{
	return !strncmp(basename(argv0), "cafrun", 6);
}

bool launcher_starts_another(const char *word)
{
	static const char *const starters[] = {"timeout", "env", "nice", "ionice", "chrt",
		"taskset", "numactl", "nohup", "setsid", "stdbuf", "time"};

	return ANY(i, ARRAY_SIZE(starters), !strcmp(basename(word), starters[i]));
}

char *const *launcher_words(char *const *command)
{
	char path[PATH_MAX];

	for (; *command; command++) {
		if (launcher_kind(*command) != LAUNCHER_NONE)
			return command;
		if (!launcher_starts_another(*command) && launcher_resolve(*command, path))
			return NULL;
	}
	return NULL;
}

/* The name of a launcher that we cannot start agents with, or NULL. */
static const char *other_launcher(char *const *command)
{
	char path[PATH_MAX];

	for (; *command; command++) {
		const char *name = basename(*command);

		for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
			char *verb = command[1] ? xasprintf(" %s ", command[1]) : xstrdup("");
			bool is = !strcmp(name, others[i].name) &&
				  (!others[i].verbs || (verb[0] && strstr(others[i].verbs, verb)));

			free(verb);
			if (is)
				return *command;
		}
		/* Cray's PALS has an mpiexec of its own */
		if (!strncmp(name, "mpiexec", 7) && launcher_resolve(*command, path) &&
			strstr(path, "/pals/"))
			return *command;
		if (!launcher_starts_another(*command) && launcher_resolve(*command, path))
			return NULL;
	}
	return NULL;
}

static bool is_this_host(const char *name, size_t n)
{
	char host[256] = "";
	const char *ours[] = {host, "localhost", "127.0.0.1"};

	gethostname(host, sizeof(host) - 1);
	return ANY(i, ARRAY_SIZE(ours), n == strlen(ours[i]) && !strncmp(name, ours[i], n));
}

/* "a:2,b:2" and lines of "a slots=2": is there a host other than this one? */
static bool names_others(const char *text)
{
	while (*text) {
		size_t n;

		text += strspn(text, ", \t\n");
		if (*text == '#') {
			text += strcspn(text, "\n");
			continue;
		}
		n = strcspn(text, ":, \t\n");
		if (n && !is_this_host(text, n))
			return true;
		text += n;
		text += strcspn(text, ",\n");
	}
	return false;
}

static bool file_names_others(const char *path)
{
	char line[1024];
	bool others = false;
	FILE *f = fopen(path, "re");

	while (f && !others && fgets(line, sizeof(line), f))
		others = names_others(line);
	if (f)
		fclose(f);
	return others;
}

static void look_for_hosts(void *ctx, const struct launcher_seen *seen)
{
	const char *value = seen->values[0] ? seen->values[0] : "";

	if ((seen->option->role == OPTION_HOSTS && names_others(value)) ||
		(seen->option->role == OPTION_HOSTFILE && file_names_others(value)))
		*(bool *)ctx = true;
}

bool launcher_is_distributed(char *const *command)
{
	const char *pbs = getenv("PBS_NODEFILE");
	char *const *argv = launcher_words(command);
	bool named = false;

	if (!argv)
		return false;
	if (launcher_kind(argv[0]) == LAUNCHER_SLURM)
		return slurm_is_distributed(argv);
	launcher_read_options(launcher_kind(argv[0]), argv, look_for_hosts, &named);
	return named || slurm_job_is_elsewhere() || (pbs && file_names_others(pbs));
}

char *launcher_refusal(char *const *command)
{
	char *const *argv = launcher_words(command);

	if (argv && launcher_kind(argv[0]) == LAUNCHER_SLURM)
		return slurm_refusal(argv);
	if (argv && is_cafrun(argv[0]) && launcher_is_distributed(command))
		return xasprintf("no agents can be started on other nodes by %s; use the form that "
				 "runs inside of it: %s -np N vftr-node-agent --in-step -- PROGRAM",
			argv[0], argv[0]);
	if (argv || !other_launcher(command))
		return NULL;
	return xasprintf("no agents can be started beside %s; use the form that runs inside of it: "
			 "%s ... vftr-node-agent --in-step -- PROGRAM",
		other_launcher(command), other_launcher(command));
}

void arguments_add(struct arguments *a, const char *text)
{
	a->v = grow(a->v, a->n + 1, &a->cap, sizeof(*a->v));
	a->v[a->n++] = xstrdup(text);
	a->v[a->n] = NULL;
}

void arguments_free(struct arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
	*a = (struct arguments){0};
}

static void pass_one(enum launcher_kind kind, const char *variable, struct arguments *out)
{
	const char *equals = strchr(variable, '=');

	if (kind == LAUNCHER_OPENMPI) {
		arguments_add(out, "-x");
		arguments_add(out, variable);
	} else if (kind == LAUNCHER_HYDRA && equals) { /* others it passes by itself */
		char *name = xasprintf("%.*s", (int)(equals - variable), variable);

		arguments_add(out, "-genv");
		arguments_add(out, name);
		arguments_add(out, equals + 1);
		free(name);
	}
}

/* The word behind which options may stand; cafrun's own come first, or it does nothing. -1: none.
 */
static int last_own_word(char *const *argv)
{
	if (!argv || !is_cafrun(argv[0]))
		return 0;
	return argv[1] && (!strcmp(argv[1], "-n") || !strcmp(argv[1], "-np")) && argv[2] ? 2 : -1;
}

void launcher_pass_environment(
	char *const *command, char *const *variables, const char *nodes, struct arguments *out)
{
	char *const *argv = launcher_words(command);
	enum launcher_kind kind = argv ? launcher_kind(argv[0]) : LAUNCHER_NONE;
	const int own = last_own_word(argv);

	for (; *command && command != argv; command++)
		arguments_add(out, *command);
	if (kind == LAUNCHER_SLURM) {
		slurm_command(argv, variables, nodes, out);
		return;
	}
	for (int i = 0; argv && argv[i]; i++) {
		bool separator = kind == LAUNCHER_OPENMPI && i && !strcmp(argv[i], ":");

		arguments_add(out, argv[i]);
		for (int k = 0; (i == own || separator) && variables[k]; k++)
			pass_one(kind, variables[k], out);
	}
}

struct kept {
	const char *dashes; /* before a name of several letters */
	struct arguments *out;
};

static void keep_seen(void *ctx, const struct launcher_seen *seen)
{
	struct kept *k = ctx;
	char *name;

	if (seen->option->role == OPTION_OTHER)
		return;
	name = xasprintf("%s%s", seen->option->name[1] ? k->dashes : "-", seen->option->name);
	arguments_add(k->out, name);
	free(name);
	for (int i = 0; i < 2 && seen->values[i]; i++)
		arguments_add(k->out, seen->values[i]);
}

void launcher_one_per_node(char *const *command, struct arguments *out)
{
	static const char *const openmpi[] = {"--map-by", "ppr:1:node", "--bind-to", "none"};
	static const char *const hydra[] = {"-ppn", "1"};
	char *const *argv = launcher_words(command);
	struct kept kept = {"--", out};
	enum launcher_kind kind;

	if (!argv)
		return;
	kind = launcher_kind(argv[0]);
	if (kind == LAUNCHER_HYDRA)
		kept.dashes = "-";
	arguments_add(out, argv[0]);
	if (kind == LAUNCHER_SLURM) {
		slurm_one_per_node(argv, out);
		return;
	}
	launcher_read_options(kind, argv, keep_seen, &kept);
	for (size_t i = 0; kind == LAUNCHER_OPENMPI && i < ARRAY_SIZE(openmpi); i++)
		arguments_add(out, openmpi[i]);
	for (size_t i = 0; kind == LAUNCHER_HYDRA && i < ARRAY_SIZE(hydra); i++)
		arguments_add(out, hydra[i]);
}

bool launcher_chooses_nodes(char *const *command)
{
	char *const *argv = launcher_words(command);

	return argv && launcher_kind(argv[0]) == LAUNCHER_SLURM && slurm_chooses_nodes(argv);
}

static void look_for_list(void *ctx, const struct launcher_seen *seen)
{
	*(bool *)ctx |= seen->option->role == OPTION_PROGRAMS;
}

const char *launcher_program(char *const *command)
{
	char *const *argv = launcher_words(command);
	bool list = false;
	int i;

	if (!argv)
		return command[0];
	i = launcher_read_options(launcher_kind(argv[0]), argv, look_for_list, &list);
	return list ? NULL : argv[i];
}

/* "NAME=VALUE", as env has it before a launcher, but for what is about tracing. */
static bool is_for_launcher(const char *word)
{
	size_t n = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");

	return n && word[n] == '=' && strncmp(word, "LD_PRELOAD=", 11) && strncmp(word, "VFTR_", 5);
}

static bool is_given(char *const *variables, size_t n, const char *variable)
{
	return ANY(i, n, !strncmp(variables[i], variable, strcspn(variables[i], "=") + 1));
}

char **launcher_agents_environment(char *const *command)
{
	char *const *argv = command ? launcher_words(command) : NULL;
	bool own_step = argv && launcher_kind(argv[0]) == LAUNCHER_SLURM;
	static char overlap[] = "SLURM_OVERLAP=1"; /* beside the command's step; mpirun's, too */
	static const char *const alone[] = {
		"SLURM_OVERLAP=", "SLURM_EXCLUSIVE=", "SLURM_EXACT=", "SLURM_WHOLE="};
	size_t n = 0, all = 0, given;
	char **wanted;

	while (environ[all])
		all++;
	wanted = xcalloc(all + (size_t)(argv ? argv - command : 0) + 2, sizeof(*wanted));
	for (char *const *word = command; argv && word < argv; word++)
		if (is_for_launcher(*word) && (!own_step || slurm_agents_want(*word)))
			wanted[n++] = *word;
	given = n;
	for (size_t i = 0; i < all; i++) {
		bool drop = (own_step && !slurm_agents_want(environ[i])) ||
			    is_given(wanted, given, environ[i]);

		for (size_t k = 0; k < ARRAY_SIZE(alone); k++)
			drop |= !strncmp(environ[i], alone[k], strlen(alone[k]));
		if (!drop)
			wanted[n++] = environ[i];
	}
	wanted[n] = overlap;
	return wanted;
}
