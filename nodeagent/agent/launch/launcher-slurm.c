/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/launcher-slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/agent/launch/launcher-options.h"
#include "nodeagent/base/util.h"

#define STEP_OF_SLURM 0xfffffff0ul /* batch, interactive ... have numbers from here on */
#define IN_STEP                                                                                    \
	"use the form that runs inside of the step: srun ... vftr-node-agent --in-step -- PROGRAM"

/* What a command line of srun says. Texts belong to argv or to the environment. */
struct step {
	const char *nodes, *tasks, *list, *file, *job, *groups, *export, *mpi;
	bool relative, arbitrary;
	int program;		/* index in argv */
	bool several;		/* components, with ":" between them */
	struct arguments kept;	/* options for the agents' srun */
	long job_nodes;		/* of the job, 0: there is no job */
	char *job_list;		/* their names, or NULL */
	struct arguments hosts; /* of a file for arbitrary distribution, each once */
};

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && value[0] ? value : NULL;
}

static void keep_step(struct step *s, const struct launcher_seen *seen)
{
	char *text =
		xasprintf("--%s=%s", seen->option->name, seen->values[0] ? seen->values[0] : "");

	arguments_add(&s->kept, text);
	free(text);
}

static void see(void *ctx, const struct launcher_seen *seen)
{
	struct step *s = ctx;
	const char *value = seen->values[0] ? seen->values[0] : "";

	switch (seen->option->role) {
	case OPTION_NODES:
		s->nodes = value;
		break;
	case OPTION_TASKS:
		s->tasks = value;
		break;
	case OPTION_NODE_LIST:
		s->list = value;
		keep_step(s, seen);
		break;
	case OPTION_HOSTFILE:
		s->file = value;
		keep_step(s, seen);
		break;
	case OPTION_RELATIVE:
		s->relative = true;
		keep_step(s, seen);
		break;
	case OPTION_DISTRIBUTION:
		s->arbitrary = !strncmp(value, "arbitrary", 9);
		break;
	case OPTION_JOB:
		s->job = value;
		keep_step(s, seen);
		break;
	case OPTION_GROUPS:
		s->groups = value;
		keep_step(s, seen);
		break;
	case OPTION_EXPORT:
		s->export = value;
		break;
	case OPTION_MPI:
		s->mpi = value;
		keep_step(s, seen);
		break;
	case OPTION_KEPT:
		keep_step(s, seen);
		break;
	default:
		break;
	}
}

/* The first line that a command of Slurm prints, or NULL; the caller frees. */
static char *answer_of(const char *command)
{
	FILE *f = popen(command, "re");
	char *line = NULL;
	size_t room = 0;
	ssize_t n = f ? getline(&line, &room, f) : -1;

	if (f)
		pclose(f);
	if (n > 0)
		line[strcspn(line, "\n")] = '\0';
	if (n > 0 && line[0])
		return line;
	free(line);
	return NULL;
}

/* --jobid of another job than the one that we are in. */
static void ask_for_job(struct step *s)
{
	char *command, *answer, *space;

	if (!s->job[0] || s->job[strspn(s->job, "0123456789+")])
		return;
	command = xasprintf("squeue -h -j %s -o '%%D %%N' 2>/dev/null", s->job);
	answer = answer_of(command);
	space = answer ? strchr(answer, ' ') : NULL;
	if (space) {
		s->job_nodes = atol(answer);
		s->job_list = xstrdup(space + 1);
	}
	free(answer);
	free(command);
}

/* A variable of the job: of the step's component in a heterogeneous job; older: its former name. */
static const char *variable_of_job(const struct step *s, const char *name, const char *older)
{
	const char *value = NULL;

	if (variable("SLURM_HET_SIZE")) {
		char *of_group = xasprintf("%s_HET_GROUP_%s", name, s->groups ? s->groups : "0");

		value = variable(of_group);
		free(of_group);
	}
	value = value ? value : variable(name);
	return value ? value : variable(older);
}

static void find_job(struct step *s)
{
	const char *job = variable("SLURM_JOB_ID"), *nodes, *list;

	if (!job)
		job = variable("SLURM_JOBID");
	if (s->job && (!job || strcmp(job, s->job))) {
		ask_for_job(s);
	} else if (job) {
		nodes = variable_of_job(s, "SLURM_JOB_NUM_NODES", "SLURM_NNODES");
		list = variable_of_job(s, "SLURM_JOB_NODELIST", "SLURM_NODELIST");
		s->job_nodes = nodes && atol(nodes) > 0 ? atol(nodes) : 1;
		s->job_list = list ? xstrdup(list) : NULL;
	}
}

static void read_hosts(struct step *s)
{
	const char *path = s->file ? s->file : variable("SLURM_HOSTFILE");
	FILE *f = path ? fopen(path, "re") : NULL;
	char name[256];

	while (f && fscanf(f, " %255[^, \t\n]%*[, \t\n]", name) == 1) {
		size_t i = 0;

		while (i < s->hosts.n && strcmp(s->hosts.v[i], name))
			i++;
		if (i == s->hosts.n)
			arguments_add(&s->hosts, name);
	}
	if (f)
		fclose(f);
}

static void step_read(struct step *s, char *const *argv)
{
	*s = (struct step){0};
	s->program = launcher_read_options(LAUNCHER_SLURM, argv, see, s);
	for (int i = s->program; argv[i]; i++)
		s->several |= !strcmp(argv[i], ":");
	find_job(s);
	if (variable("SLURM_DISTRIBUTION") &&
		!strncmp(getenv("SLURM_DISTRIBUTION"), "arbitrary", 9))
		s->arbitrary = true;
	if (s->arbitrary)
		read_hosts(s);
}

static void step_done(struct step *s)
{
	arguments_free(&s->kept);
	arguments_free(&s->hosts);
	free(s->job_list);
}

static bool is_this_node(const char *name)
{
	char host[256] = "";
	const char *own = variable("SLURMD_NODENAME");

	if (own && !strcmp(name, own))
		return true;
	gethostname(host, sizeof(host) - 1);
	if (!strcmp(name, host))
		return true;
	host[strcspn(host, ".")] = '\0';
	return !strcmp(name, host) || !strcmp(name, "localhost");
}

bool slurm_job_is_elsewhere(void)
{
	struct step s = {0};
	bool elsewhere;

	find_job(&s);
	elsewhere = s.job_nodes > 1 || (s.job_nodes && s.job_list && !is_this_node(s.job_list));
	step_done(&s);
	return elsewhere;
}

/* A machine that is its own cluster: srun needs no job before, and stays here. */
static bool is_only_node(const struct step *s)
{
	char *first, *last;
	bool only;

	if (s->list)
		return is_this_node(s->list);
	first = answer_of("sinfo -h -N -o %n 2>/dev/null | sort -u");
	last = answer_of("sinfo -h -N -o %n 2>/dev/null | sort -u | tail -n 1");
	only = first && last && !strcmp(first, last) && is_this_node(first);
	free(first);
	free(last);
	return only;
}

bool slurm_is_distributed(char *const *argv)
{
	struct step s;
	bool others;

	step_read(&s, argv);
	others = s.job_nodes > 1 || !s.job_list ? s.job_nodes > 1 : !is_this_node(s.job_list);
	step_done(&s);
	return others;
}

char *slurm_refusal(char *const *argv)
{
	struct step s;
	char *why = NULL;

	step_read(&s, argv);
	if (s.several || (s.groups && strpbrk(s.groups, ",-")))
		why = xasprintf("this step has several components, and agents can't be started "
				"beside all of them; " IN_STEP);
	else if (!s.job_nodes && !is_only_node(&s))
		why = xasprintf(
			"this host is in no job of Slurm's, so that no agents can be started on "
			"the nodes that %s will get; run vftr-node-agent in sbatch or salloc, "
			"or " IN_STEP,
			argv[0]);
	step_done(&s);
	return why;
}

/* Of srun's "2" or "1-4". */
static long most_nodes(const char *nodes)
{
	const char *dash = strchr(nodes, '-');

	return atol(dash ? dash + 1 : nodes);
}

/* srun takes "4k" for 4096. */
static long number_of_tasks(const char *tasks)
{
	return atol(tasks) * (strpbrk(tasks, "kK") ? 1024 : 1);
}

/* How many nodes the step has at most. */
static long nodes_of(const struct step *s)
{
	const char *nodes = s->nodes ? s->nodes : variable("SLURM_NNODES");
	const char *tasks = s->tasks ? s->tasks : variable("SLURM_NTASKS");
	long n, t;

	if (s->arbitrary && s->hosts.n)
		return (long)s->hosts.n;
	if (!tasks)
		tasks = variable("SLURM_NPROCS");
	n = nodes ? most_nodes(nodes) : s->job_nodes;
	t = tasks ? number_of_tasks(tasks) : n;
	if (n < 1 || n > s->job_nodes)
		n = s->job_nodes;
	return t >= 1 && t < n ? t : n;
}

static void add_number(struct arguments *out, const char *option, long n)
{
	char *text = xasprintf("%s%ld", option, n);

	arguments_add(out, text);
	free(text);
}

void slurm_one_per_node(char *const *argv, struct arguments *out)
{
	/* all of the job's memory, none of its GPUs, no CPU of its own, and no end before ours */
	static const char *const rest[] = {"--ntasks-per-node=1", "--input=none", "--mem=0",
		"--gres=none", "--cpu-bind=none", "-K0", "-W0"};
	struct step s;
	char *list;
	long n;

	step_read(&s, argv);
	n = nodes_of(&s);
	for (size_t i = 0; i < s.kept.n; i++)
		arguments_add(out, s.kept.v[i]);
	if (s.arbitrary && s.hosts.n) {
		list = xstrdup("--nodelist=");
		for (size_t i = 0; i < s.hosts.n; i++)
			list = xappend(list, "%s%s", i ? "," : "", s.hosts.v[i]);
		arguments_add(out, list);
		free(list);
	}
	add_number(out, "-N", n);
	add_number(out, "-n", n);
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		arguments_add(out, rest[i]);
	step_done(&s);
}

bool slurm_chooses_nodes(char *const *argv)
{
	struct step s;
	bool chooses;

	step_read(&s, argv);
	chooses = !s.relative && !s.arbitrary && !s.file && nodes_of(&s) < s.job_nodes;
	step_done(&s);
	return chooses;
}

static bool lists_all(const char *export)
{
	for (const char *word = export; *word; word += strcspn(word, ","), word += *word == ',')
		if (!strncmp(word, "ALL", 3) && (!word[3] || word[3] == ','))
			return true;
	return false;
}

/* --export=NONE and lists leave out what our library needs to find its agent. */
static char *export_with(const char *export, char *const *variables)
{
	bool none = !strcmp(export, "NONE") || !strcmp(export, "NIL");
	char *list = xstrdup(none ? "" : export);

	for (; *variables; variables++)
		list = xappend(list, "%s%s", list[0] ? "," : "", *variables);
	return list;
}

void slurm_command(
	char *const *argv, char *const *variables, const char *nodes, struct arguments *out)
{
	struct step s;
	const char *export;
	int i = 0;

	step_read(&s, argv);
	export = s.export ? s.export : variable("SRUN_EXPORT_ENV");
	if (!export)
		export = variable("SLURM_EXPORT_ENV");
	for (; i < s.program && strcmp(argv[i], "--"); i++)
		arguments_add(out, argv[i]);
	if (nodes) {
		arguments_add(out, "-w");
		arguments_add(out, nodes);
	}
	if (export && variables[0] && !lists_all(export)) {
		char *list = export_with(export, variables);

		arguments_add(out, "--export");
		arguments_add(out, list);
		free(list);
	}
	for (; argv[i]; i++)
		arguments_add(out, argv[i]);
	step_done(&s);
}

const char *slurm_mpi(char *const *argv)
{
	struct step s;
	const char *mpi;

	step_read(&s, argv);
	mpi = s.mpi ? s.mpi : variable("SLURM_MPI_TYPE");
	step_done(&s);
	return mpi && (!strcmp(mpi, "pmi2") || !strncmp(mpi, "cray", 4)) ? "mpich" : "openmpi";
}

bool slurm_agents_want(const char *variable)
{
	/* Which job, and how Slurm is reached. All others are wishes for the command's step. */
	static const char *const wanted[] = {"SLURM_CONF", "SLURM_JOB_ID", "SLURM_JOBID",
		"SLURM_CLUSTER", "SLURM_WORKING_CLUSTER", "SLURM_JWT", "SLURM_MPI_TYPE",
		"SLURM_NETWORK", "SLURM_HET_SIZE", "SLURM_JOB_NODELIST", "SLURM_JOB_ID_HET_GROUP",
		"SLURM_PMI", "SLURM_SPANK", "SLURM_SRUN_COMM_IFHN"};

	if (strncmp(variable, "SLURM_", 6) && strncmp(variable, "SRUN_", 5))
		return true;
	return ANY(i, ARRAY_SIZE(wanted), !strncmp(variable, wanted[i], strlen(wanted[i])));
}

/* A step of its own, not the one in which salloc runs the user's shell on one node. */
static bool is_real_step(void)
{
	const char *id = getenv("SLURM_STEP_ID");

	return id && strtoul(id, NULL, 10) < STEP_OF_SLURM;
}

unsigned slurm_nodes(char **of)
{
	const char *job = getenv("SLURM_JOB_ID"), *nodes = getenv("SLURM_STEP_NUM_NODES");

	*of = NULL;
	if (!job)
		return 0;
	if (nodes && is_real_step()) {
		*of = xasprintf("step %.30s.%.30s", job, getenv("SLURM_STEP_ID"));
		return (unsigned)strtoul(nodes, NULL, 10);
	}
	*of = xasprintf("job %.30s", job);
	nodes = getenv("SLURM_JOB_NUM_NODES");
	if (!nodes)
		nodes = getenv("SLURM_NNODES");
	return nodes ? (unsigned)strtoul(nodes, NULL, 10) : 0;
}
