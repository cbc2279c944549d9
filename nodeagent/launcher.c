/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeagent/util.h"

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

/*
 * Options that say where processes go: kept when the agents are started with
 * the same launcher. values: words that follow; hosts: the value lists hosts
 * (1) or names a file of them (2).
 */
struct place_option {
	const char *name;
	int values, hosts;
};

static const struct place_option openmpi_options[] = {
	{"-H", 1, 1},
	{"-host", 1, 1},
	{"--host", 1, 1},
	{"-hostfile", 1, 2},
	{"--hostfile", 1, 2},
	{"-machinefile", 1, 2},
	{"--machinefile", 1, 2},
	{"-mca", 2, 0},
	{"--mca", 2, 0},
	{"-gmca", 2, 0},
	{"--gmca", 2, 0},
	{"--prefix", 1, 0},
	{"-launch-agent", 1, 0},
	{"--launch-agent", 1, 0},
	{"--allow-run-as-root", 0, 0},
	{"-allow-run-as-root", 0, 0},
	{"--oversubscribe", 0, 0},
	{"-oversubscribe", 0, 0},
	{"--enable-recovery", 0, 0},
	{NULL, 0, 0},
};
static const struct place_option hydra_options[] = {
	{"-hosts", 1, 1},
	{"-host", 1, 1},
	{"-f", 1, 2},
	{"-hostfile", 1, 2},
	{"-machinefile", 1, 2},
	{"-launcher", 1, 0},
	{"-launcher-exec", 1, 0},
	{"-bootstrap", 1, 0},
	{"-bootstrap-exec", 1, 0},
	{"-iface", 1, 0},
	{"-rmk", 1, 0},
	{NULL, 0, 0},
};
static const struct place_option slurm_options[] = {
	{"-w", 1, 1},
	{"--nodelist", 1, 1},
	{"-p", 1, 0},
	{"--partition", 1, 0},
	{"-N", 1, 0},
	{"--nodes", 1, 0},
	{"--jobid", 1, 0},
	{"--mpi", 1, 0},
	{"-A", 1, 0},
	{"--account", 1, 0},
	{NULL, 0, 0},
};

/* Other options with a word behind them, so that it is not taken for the program. */
static const struct place_option openmpi_skipped[] = {
	{"-np", 1, 0},
	{"-n", 1, 0},
	{"-c", 1, 0},
	{"--np", 1, 0},
	{"--n", 1, 0},
	{"-x", 1, 0},
	{"--map-by", 1, 0},
	{"-map-by", 1, 0},
	{"--bind-to", 1, 0},
	{"-bind-to", 1, 0},
	{"--rank-by", 1, 0},
	{"-wdir", 1, 0},
	{"--wdir", 1, 0},
	{"-N", 1, 0},
	{"-npernode", 1, 0},
	{"--npernode", 1, 0},
	{"--output-filename", 1, 0},
	{"--stdin", 1, 0},
	{"--cpu-set", 1, 0},
	{"--timeout", 1, 0},
	{"-rf", 1, 0},
	{NULL, 0, 0},
};
static const struct place_option hydra_skipped[] = {
	{"-n", 1, 0},
	{"-np", 1, 0},
	{"-ppn", 1, 0},
	{"-genv", 2, 0},
	{"-env", 2, 0},
	{"-genvlist", 1, 0},
	{"-envlist", 1, 0},
	{"-wdir", 1, 0},
	{"-bind-to", 1, 0},
	{"-map-by", 1, 0},
	{"-perhost", 1, 0},
	{NULL, 0, 0},
};
static const struct place_option slurm_skipped[] = {
	{"-n", 1, 0},
	{"--ntasks", 1, 0},
	{"-c", 1, 0},
	{"-t", 1, 0},
	{"-J", 1, 0},
	{NULL, 0, 0},
};

static const struct place_option *const placing[] = {[LAUNCHER_OPENMPI] = openmpi_options,
	[LAUNCHER_HYDRA] = hydra_options,
	[LAUNCHER_SLURM] = slurm_options};
static const struct place_option *const skipped[] = {[LAUNCHER_OPENMPI] = openmpi_skipped,
	[LAUNCHER_HYDRA] = hydra_skipped,
	[LAUNCHER_SLURM] = slurm_skipped};

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

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

enum launcher_kind launcher_kind(const char *argv0)
{
	char path[PATH_MAX];
	const char *named = base_name(argv0);

	/* a program of the user's may have such a name, too */
	if (strncmp(named, "mpirun", 6) && strncmp(named, "mpiexec", 7) && strcmp(named, "srun") &&
		strncmp(named, "orterun", 7) && strncmp(named, "prterun", 7))
		return LAUNCHER_NONE;
	if (!launcher_resolve(argv0, path))
		return LAUNCHER_NONE;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (strstr(base_name(path), files[i].part))
			return files[i].kind;
	/* mpirun of an MPI we have not met: most are hydra's children */
	return !strncmp(named, "mpirun", 6) || !strncmp(named, "mpiexec", 7) ? LAUNCHER_HYDRA
									     : LAUNCHER_NONE;
}

char *const *launcher_words(char *const *command)
{
	static const char *const starters[] = {"timeout", "env", "nice", "ionice", "chrt",
		"taskset", "numactl", "nohup", "setsid", "stdbuf", "time"};
	char path[PATH_MAX];

	for (; *command; command++) {
		bool passes = false;

		if (launcher_kind(*command) != LAUNCHER_NONE)
			return command;
		for (size_t i = 0; i < ARRAY_SIZE(starters); i++)
			passes |= !strcmp(base_name(*command), starters[i]);
		if (!passes && launcher_resolve(*command, path))
			return NULL;
	}
	return NULL;
}

static const struct place_option *option_in(const struct place_option *table, const char *word)
{
	for (; table && table->name; table++) {
		size_t n = strlen(table->name);

		if (!strcmp(word, table->name) ||
			(table->name[1] == '-' && !strncmp(word, table->name, n) && word[n] == '='))
			return table;
	}
	return NULL;
}

static bool is_this_host(const char *name, size_t n)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return (n == strlen(host) && !strncmp(name, host, n)) ||
	       (n == 9 && !strncmp(name, "localhost", 9)) || !strncmp(name, "127.0.0.1", n);
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

/* Calls take(option, words) for each option before the program's name. */
static void each_option(enum launcher_kind kind, char *const *argv,
	void (*take)(void *ctx, const struct place_option *o, char *const *words, int n), void *ctx)
{
	for (int i = 1; argv[i] && argv[i][0] == '-';) {
		const struct place_option *o = option_in(placing[kind], argv[i]);
		const struct place_option *any = o ? o : option_in(skipped[kind], argv[i]);
		int n = 1, values = any && !strchr(argv[i], '=') ? any->values : 0;

		while (values-- && argv[i + n])
			n++;
		if (o)
			take(ctx, o, argv + i, n);
		i += n;
	}
}

static void look_for_hosts(void *ctx, const struct place_option *o, char *const *words, int n)
{
	const char *value = strchr(words[0], '=') ? strchr(words[0], '=') + 1
			    : n > 1		  ? words[1]
						  : "";

	if ((o->hosts == 1 && names_others(value)) || (o->hosts == 2 && file_names_others(value)))
		*(bool *)ctx = true;
}

bool launcher_is_distributed(char *const *command)
{
	const char *nodes = getenv("SLURM_JOB_NUM_NODES"), *pbs = getenv("PBS_NODEFILE");
	char *const *argv = launcher_words(command);
	bool others = false;

	if (!argv)
		return false;
	each_option(launcher_kind(argv[0]), argv, look_for_hosts, &others);
	return others || (nodes && atoi(nodes) > 1) || (pbs && file_names_others(pbs));
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

void launcher_pass_environment(char *const *command, char *const *variables, struct arguments *out)
{
	char *const *argv = launcher_words(command);
	enum launcher_kind kind = argv ? launcher_kind(argv[0]) : LAUNCHER_NONE;

	for (; *command && command != argv; command++)
		arguments_add(out, *command);
	for (int i = 0; argv && argv[i]; i++) {
		bool separator = kind == LAUNCHER_OPENMPI && i && !strcmp(argv[i], ":");

		arguments_add(out, argv[i]);
		for (int k = 0; (!i || separator) && variables[k]; k++)
			pass_one(kind, variables[k], out);
	}
}

static void keep(void *ctx, const struct place_option *o, char *const *words, int n)
{
	for (int i = 0; i < n; i++)
		arguments_add(ctx, words[i]);
}

void launcher_one_per_node(char *const *command, struct arguments *out)
{
	static const char *const rest[][8] = {
		[LAUNCHER_OPENMPI] = {"--map-by", "ppr:1:node", "--bind-to", "none"},
		[LAUNCHER_HYDRA] = {"-ppn", "1"},
		[LAUNCHER_SLURM] = {"--overlap", "--ntasks-per-node=1", "--cpu-bind=none", "-K0"},
	};
	char *const *argv = launcher_words(command);
	enum launcher_kind kind;

	if (!argv)
		return;
	kind = launcher_kind(argv[0]);
	arguments_add(out, argv[0]);
	each_option(kind, argv, keep, out);
	for (size_t i = 0; i < ARRAY_SIZE(rest[0]) && rest[kind][i]; i++)
		arguments_add(out, rest[kind][i]);
}
