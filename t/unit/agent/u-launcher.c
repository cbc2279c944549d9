/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Command lines of launchers: every spelling of an option is read as the launcher reads it,
 * and the agents' step gets what it needs of them, whatever stands in the environment.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/launcher-options.h"
#include "nodeagent/agent/launch/launcher-slurm.h"
#include "nodeagent/base/util.h"
#include "t/lib/suite.h"

/* Of one test, each of which is a process. */
static void *kept[64];

static void *keep(void *p)
{
	static size_t n;

	return n < ARRAY_SIZE(kept) ? kept[n++] = p : p;
}

/* "a b c" as words; at most 60. Kept. */
static char **words(const char *text)
{
	char **v = keep(xcalloc(61, sizeof(*v))), *save, *copy = keep(xstrdup(text));
	size_t n = 0;

	for (char *w = strtok_r(copy, " ", &save); w && n < 60; w = strtok_r(NULL, " ", &save))
		v[n++] = w;
	return v;
}

/* Kept. */
static char *joined(const struct arguments *a)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < a->n; i++) {
		char *longer = xasprintf("%s%s%s", text, i ? " " : "", a->v[i]);

		free(text);
		text = longer;
	}
	return keep(text);
}

static void note(void *ctx, const struct launcher_seen *s)
{
	struct arguments *a = ctx;

	arguments_add(a, s->option->name);
	for (int i = 0; i < 2 && s->values[i]; i++)
		arguments_add(a, s->values[i]);
}

static const struct {
	enum launcher_kind kind;
	const char *line, *seen, *program;
} lines[] = {
	{LAUNCHER_SLURM, "srun -N3 app", "nodes 3", "app"},
	{LAUNCHER_SLURM, "srun -N 3 app", "nodes 3", "app"},
	{LAUNCHER_SLURM, "srun --nodes=3 app", "nodes 3", "app"},
	{LAUNCHER_SLURM, "srun --nodes 3 app", "nodes 3", "app"},
	{LAUNCHER_SLURM, "srun --nodes=3-5 app", "nodes 3-5", "app"},
	{LAUNCHER_SLURM, "srun --nodel a,b app", "nodelist a,b", "app"},
	{LAUNCHER_SLURM, "srun --ntasks-per-nod 2 app", "ntasks-per-node 2", "app"},
	{LAUNCHER_SLURM, "srun --ntasks 2 app", "ntasks 2", "app"},
	{LAUNCHER_SLURM, "srun -o F app", "output F", "app"},
	{LAUNCHER_SLURM, "srun -oF app", "output F", "app"},
	{LAUNCHER_SLURM, "srun -o -N app", "output -N", "app"},
	{LAUNCHER_SLURM, "srun -lvN3 app", "label verbose nodes 3", "app"},
	{LAUNCHER_SLURM, "srun -lN 3 -uQ app", "label nodes 3 unbuffered quiet", "app"},
	{LAUNCHER_SLURM, "srun -K app", "kill-on-bad-exit", "app"},
	{LAUNCHER_SLURM, "srun -K0 -I -W 5 app", "kill-on-bad-exit 0 immediate wait 5", "app"},
	{LAUNCHER_SLURM, "srun --exclusive app", "exclusive", "app"},
	{LAUNCHER_SLURM, "srun --exclusive=user app", "exclusive user", "app"},
	{LAUNCHER_SLURM, "srun --mem=0 --gpus 4 -G 2 --network x app",
		"mem 0 gpus 4 gpus 2 network x", "app"},
	{LAUNCHER_SLURM, "srun --multi-prog -n 4 app", "multi-prog ntasks 4", "app"},
	{LAUNCHER_SLURM, "srun -n4 -- app -N3", "ntasks 4", "app"},
	{LAUNCHER_SLURM, "srun -n4 app -N3 --nodes=4", "ntasks 4", "app"},
	/* what only another version or a plug-in knows hides nothing behind it */
	{LAUNCHER_SLURM, "srun --new-one=3 --mpi pmix sh", "mpi pmix", "sh"},
	{LAUNCHER_SLURM, "srun --new-one 3 --mpi pmix sh", "mpi pmix", "sh"},
	{LAUNCHER_SLURM, "srun --new-one --mpi pmix sh", "mpi pmix", "sh"},
	{LAUNCHER_SLURM, "srun --new-one 3 sh", "", "sh"},
	{LAUNCHER_SLURM, "srun -y 3 -n 2 sh", "ntasks 2", "sh"},
	{LAUNCHER_SLURM, "srun -y3 sh", "", "sh"},
	{LAUNCHER_OPENMPI, "mpirun -np 4 --mca btl self -H a,b app", "np 4 mca btl self H a,b",
		"app"},
	{LAUNCHER_OPENMPI, "mpirun --np 4 -hostfile f app", "np 4 hostfile f", "app"},
	{LAUNCHER_OPENMPI, "mpirun --map-by=ppr:1:node -x A=1 app", "map-by ppr:1:node x A=1",
		"app"},
	{LAUNCHER_OPENMPI, "mpirun --new-one 7 --host a sh", "host a", "sh"},
	{LAUNCHER_OPENMPI, "mpirun --timeout 4 app : -np 3 other", "timeout 4", "app"},
	{LAUNCHER_HYDRA, "mpiexec -n 4 -genv A 1 -f hosts app", "n 4 genv A 1 f hosts", "app"},
	{LAUNCHER_HYDRA, "mpiexec --hosts=a,b -prepend-rank sh", "hosts a,b", "sh"},
	{LAUNCHER_HYDRA, "mpiexec -new-one 3 -iface eth0 sh", "iface eth0", "sh"},
};

START_TEST(every_spelling)
{
	static struct arguments a;
	char **argv = words(lines[_i].line);
	int program = launcher_read_options(lines[_i].kind, argv, note, &a);

	ck_assert_str_eq(joined(&a), lines[_i].seen);
	ck_assert_ptr_nonnull(argv[program]);
	ck_assert_str_eq(argv[program], lines[_i].program);
}
END_TEST

#define REST " --ntasks-per-node=1 --input=none --mem=0 --gres=none --cpu-bind=none -K0 -W0"

/* In a job of 3 nodes and 6 tasks. */
static const struct {
	const char *line, *agents; /* without REST */
	bool chooses;		   /* slurm_chooses_nodes() */
} steps[] = {
	{"srun --mpi=pmix app", "--mpi=pmix -N3 -n3", false},
	{"srun -N1 -n2 app", "-N1 -n1", true},
	{"srun -n2 app", "-N2 -n2", true},
	{"srun -n 60 app", "-N3 -n3", false},
	{"srun -n 1k app", "-N3 -n3", false},
	{"srun -N1-2 -n6 app", "-N2 -n2", true},
	{"srun -w node2 -N1 app", "--nodelist=node2 -N1 -n1", true},
	{"srun --nodelist node1,node3 -N2 app", "--nodelist=node1,node3 -N2 -n2", true},
	{"srun -r1 -N2 app", "--relative=1 -N2 -n2", false},
	{"srun -x node2 -N2 app", "--exclude=node2 -N2 -n2", true},
	{"srun -c4 --gpus-per-task=1 --exact -J name -o f app", "-N3 -n3", false},
	{"srun --network=single_node_vni -C fast app",
		"--network=single_node_vni --constraint=fast -N3 -n3", false},
};

static void in_job(void)
{
	setenv("SLURM_JOB_ID", "7", 1);
	setenv("SLURM_JOB_NUM_NODES", "3", 1);
	setenv("SLURM_NNODES", "3", 1);
	setenv("SLURM_JOB_NODELIST", "node[1-3]", 1);
	setenv("SLURM_NTASKS", "6", 1);
	setenv("SLURM_NTASKS_PER_NODE", "2", 1);
	unsetenv("SLURM_EXPORT_ENV");
}

START_TEST(step_of_agents)
{
	static struct arguments a;
	char *wanted = keep(xasprintf("%s" REST, steps[_i].agents));

	in_job();
	slurm_one_per_node(words(steps[_i].line), &a);
	ck_assert_str_eq(joined(&a), wanted);
	ck_assert_int_eq(slurm_chooses_nodes(words(steps[_i].line)), steps[_i].chooses);
	ck_assert(slurm_is_distributed(words(steps[_i].line)));
	ck_assert_ptr_null(slurm_refusal(words(steps[_i].line)));
}
END_TEST

START_TEST(arbitrary_hosts)
{
	static struct arguments a;
	char path[] = "/tmp/u-launcher.XXXXXX";
	FILE *f = fdopen(mkstemp(path), "w");

	fputs("node3\nnode3\nnode1\n", f);
	fclose(f);
	in_job();
	setenv("SLURM_HOSTFILE", path, 1);
	slurm_one_per_node(words("srun -m arbitrary -n3 app"), &a);
	ck_assert_str_eq(joined(&a), "--nodelist=node3,node1 -N2 -n2" REST);
	unlink(path);
}
END_TEST

START_TEST(one_group_of_several)
{
	static struct arguments a;

	in_job();
	setenv("SLURM_HET_SIZE", "2", 1);
	setenv("SLURM_JOB_NUM_NODES_HET_GROUP_1", "2", 1);
	setenv("SLURM_JOB_NODELIST_HET_GROUP_1", "big[1-2]", 1);
	unsetenv("SLURM_NNODES");
	slurm_one_per_node(words("srun --het-group=1 -n8 app"), &a);
	ck_assert_str_eq(joined(&a), "--het-group=1 -N2 -n2" REST);
	ck_assert_ptr_nonnull(
		strstr(keep(slurm_refusal(words("srun --het-group=0,1 app"))), "--in-step"));
	ck_assert_ptr_nonnull(
		strstr(keep(slurm_refusal(words("srun -n1 a : -n2 b"))), "--in-step"));
}
END_TEST

/* line, variable SLURM_EXPORT_ENV or NULL, nodes or NULL; the command. */
static const struct {
	const char *line, *variable, *nodes, *command;
} commands[] = {
	{"srun -n6 app -x", NULL, NULL, "srun -n6 app -x"},
	{"srun -n6 app -x", NULL, "node2", "srun -n6 -w node2 app -x"},
	{"srun -wnode2 -- app", NULL, "node2", "srun -wnode2 -w node2 -- app"},
	{"srun --export=ALL app", NULL, NULL, "srun --export=ALL app"},
	{"srun --export=A=1,ALL app", NULL, NULL, "srun --export=A=1,ALL app"},
	{"srun --export=NONE app", NULL, NULL, "srun --export=NONE --export VFTR_A,VFTR_B app"},
	{"srun --export A,B=1 app", NULL, NULL,
		"srun --export A,B=1 --export A,B=1,VFTR_A,VFTR_B app"},
	{"srun app", "NONE", NULL, "srun --export VFTR_A,VFTR_B app"},
	{"srun --export=ALL app", "NONE", NULL, "srun --export=ALL app"},
};

START_TEST(command_finds_its_agents)
{
	static struct arguments a;
	char *variables[] = {"VFTR_A", "VFTR_B", NULL};

	in_job();
	if (commands[_i].variable)
		setenv("SLURM_EXPORT_ENV", commands[_i].variable, 1);
	slurm_command(words(commands[_i].line), variables, commands[_i].nodes, &a);
	ck_assert_str_eq(joined(&a), commands[_i].command);
}
END_TEST

START_TEST(wishes_for_the_command_only)
{
	static const char *const unwanted[] = {"SLURM_NTASKS=6", "SLURM_NPROCS=6", "SLURM_NNODES=3",
		"SLURM_NTASKS_PER_NODE=2", "SLURM_HOSTFILE=f", "SLURM_DISTRIBUTION=arbitrary",
		"SLURM_CPU_BIND=cores", "SLURM_MEM_PER_CPU=100", "SLURM_EXACT=1", "SLURM_HINT=x",
		"SRUN_CPUS_PER_TASK=4", "SLURM_STDOUTMODE=f", "SLURM_EXPORT_ENV=NONE",
		"SLURM_KILL_BAD_EXIT=1", "SLURM_LABELIO=1", "SLURM_GPUS=4"};
	static const char *const wanted[] = {"SLURM_CONF=f", "SLURM_JOB_ID=7", "SLURM_JOBID=7",
		"SLURM_MPI_TYPE=pmix", "SLURM_CLUSTERS=a", "PATH=/bin", "OMPI_MCA_a=b"};

	for (size_t i = 0; i < ARRAY_SIZE(unwanted); i++)
		ck_assert_msg(!slurm_agents_want(unwanted[i]), "%s", unwanted[i]);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		ck_assert_msg(slurm_agents_want(wanted[i]), "%s", wanted[i]);
}
END_TEST

/* The value that the agents' launcher finds, or NULL. */
static const char *given(char **environment, const char *name)
{
	for (; *environment; environment++)
		if (!strncmp(*environment, name, strlen(name)) &&
			(*environment)[strlen(name)] == '=')
			return *environment + strlen(name) + 1;
	return NULL;
}

START_TEST(agents_have_what_env_sets_before_the_launcher)
{
	char **e;

	in_job();
	setenv("SLURM_MPI_TYPE", "none", 1);
	e = launcher_agents_environment(words("env SLURM_MPI_TYPE=pmix SLURM_NTASKS=9 A_1=b=c "
					      "LD_PRELOAD=x.so VFTR_OFF=1 srun D=e app"));
	ck_assert_str_eq(given(e, "SLURM_MPI_TYPE"), "pmix");
	ck_assert_str_eq(given(e, "A_1"), "b=c");
	ck_assert_ptr_null(given(e, "SLURM_NTASKS"));
	ck_assert_ptr_null(given(e, "LD_PRELOAD"));
	ck_assert_ptr_null(given(e, "VFTR_OFF"));
	ck_assert_ptr_null(given(e, "D"));
	ck_assert_str_eq(given(e, "SLURM_OVERLAP"), "1");
	free(e);
	e = launcher_agents_environment(words("env SLURM_NTASKS=9 mpirun app"));
	ck_assert_str_eq(given(e, "SLURM_NTASKS"), "9");
	free(e);
}
END_TEST

/* Executable files of these names in the first folder of PATH. */
static void look_like(const char *const *names, const char *text)
{
	static char dir[] = "/tmp/u-launcher.XXXXXX";
	char *path;

	if (!mkdtemp(dir))
		abort();
	for (; *names; names++) {
		char *file = xasprintf("%s/%s", dir, *names);
		FILE *f = fopen(file, "w");

		fputs(text, f);
		fclose(f);
		chmod(file, 0755);
		free(file);
	}
	path = xasprintf("%s:%s", dir, getenv("PATH"));
	setenv("PATH", path, 1);
	free(path);
}

START_TEST(unknown_launchers)
{
	static const char *const names[] = {"flux", "jsrun", "aprun", "lrun", "ccc_mprun", NULL};
	static const char *const refused[] = {"flux run -n 4 ./app", "jsrun -n4 ./app",
		"env A=1 aprun -n 4 ./app", "timeout 5 lrun ./app", "ccc_mprun -n 4 ./app"};
	static const char *const let[] = {"flux", "flux mixer.conf", "sh -c jsrun", "sh flux run"};

	look_like(names, "");
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		char *why = keep(launcher_refusal(words(refused[i])));

		ck_assert_msg(why && strstr(why, "--in-step"), "%s: %s", refused[i], why);
	}
	for (size_t i = 0; i < ARRAY_SIZE(let); i++)
		ck_assert_msg(!launcher_refusal(words(let[i])), "%s", let[i]);
}
END_TEST

/* Scripts named mpirun; %s: a file that is written if the script runs. */
static const struct {
	const char *text;
	enum launcher_kind kind;
	bool runs;
} scripts[] = {
	{"#!/bin/sh\n>%s\nexec mpirun.openmpi --oversubscribe \"$@\"\n", LAUNCHER_OPENMPI, false},
	{"#!/bin/sh\n>%s\nexec /opt/mpich/bin/mpiexec \"$@\"\n", LAUNCHER_HYDRA, false},
	{"#!/bin/sh\n>%s\nset -- $MPI \"$@\"\necho 'mpirun (Open MPI) 4.1.4'\n", LAUNCHER_OPENMPI,
		false},
	{"#!/bin/sh\n>%s\n[ \"$*\" = --version ] && printf 'mpirun (Open%%s' ' MPI) 4.1.4'\n",
		LAUNCHER_OPENMPI, true},
	{"#!/bin/sh\n>%s\nprintf 'HYD%%s' 'RA build details:' $*\n", LAUNCHER_HYDRA, true},
	/* of which nothing is known: it is left alone */
	{"#!/bin/sh\n>%s\necho version 3 \"$@\"\n", LAUNCHER_NONE, true},
	{"#!/bin/sh\n>%s\n./my-job\n", LAUNCHER_NONE, false},
	{"#!/bin/sh\n>%s\nif [ $1 ]; then mpirun.mpich; else mpirun.openmpi; fi\n", LAUNCHER_NONE,
		false},
	{"", LAUNCHER_NONE, false},
};

START_TEST(scripts_of_launchers_names)
{
	static const char *const names[] = {"mpirun", "mpirun_mine", NULL};
	char ran[] = "/tmp/u-launcher.XXXXXX";
	char *text;

	close(mkstemp(ran));
	unlink(ran);
	text = keep(xasprintf(scripts[_i].text, ran));
	look_like(names, text);
	launcher_kind("mpirun_mine");
	ck_assert_int_ne(access(ran, F_OK), 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(launcher_kind("mpirun"), scripts[_i].kind);
		ck_assert_int_eq(!unlink(ran), !i && scripts[_i].runs);
	}
}
END_TEST

static bool names_mpi(const char *line)
{
	return launch_names_mpi(&(struct launch){.command = words(line)});
}

/* A launcher is asked where it is one, not where a program is to do something with it. */
START_TEST(arguments_are_not_run)
{
	static const char *const names[] = {"mpirun", NULL};
	char ran[] = "/tmp/u-launcher.XXXXXX";

	close(mkstemp(ran));
	unlink(ran);
	look_like(names, keep(xasprintf(scripts[3].text, ran)));
	ck_assert(!names_mpi("cp mpirun /tmp"));
	ck_assert(!names_mpi("env A=1 sh mpirun"));
	ck_assert_int_ne(access(ran, F_OK), 0);
	ck_assert(names_mpi("env A=1 nice mpirun -n 2 app"));
	ck_assert_int_eq(unlink(ran), 0);
}
END_TEST

/* cafrun reads its own options first, and does nothing without them. */
static const struct {
	const char *text, *line, *command;
} coarrays[] = {
	{"#!/bin/sh\n[ $1 = --wraps ] && printf 'mpiexec (Open%s 4.1.4)' RTE\necho $@\n",
		"cafrun -np 4 ./app -n", "cafrun -np 4 -x A=1 -x B ./app -n"},
	{"#!/bin/sh\n[ $1 = --wraps ] && printf HYD%s RA\necho ${@}\n", "cafrun -n 4 ./app",
		"cafrun -n 4 -genv A 1 ./app"},
	{"#!/bin/sh\nexec mpiexec.hydra \"$@\"\n", "cafrun --help ./app", "cafrun --help ./app"},
};

START_TEST(coarrays_by_cafrun)
{
	static const char *const names[] = {"cafrun", NULL};
	char *variables[] = {"A=1", "B", NULL};
	static struct arguments a;

	look_like(names, coarrays[_i].text);
	launcher_pass_environment(words(coarrays[_i].line), variables, NULL, &a);
	ck_assert_str_eq(joined(&a), coarrays[_i].command);
	ck_assert_ptr_null(launcher_refusal(words(coarrays[_i].line)));
	ck_assert_ptr_nonnull(strstr(
		keep(launcher_refusal(words("cafrun -np 4 -host othernode ./app"))), "--in-step"));
}
END_TEST

/* Open MPI and MPICH on this host or on others. */
static const struct {
	const char *line;
	bool others;
} hosts[] = {
	{"mpirun -H localhost,127.0.0.1:4 true", false},
	{"mpirun -H 1 true", true},
	{"mpirun -H 12:2 true", true},
	{"mpirun -H localhost,127 true", true},
	{"mpirun -H 127.0.0.11 true", true},
};

START_TEST(other_hosts)
{
	static const char *const names[] = {"mpirun", NULL};

	unsetenv("SLURM_JOB_ID");
	unsetenv("PBS_NODEFILE");
	look_like(names, "exec orterun");
	ck_assert_int_eq(launcher_is_distributed(words(hosts[_i].line)), hosts[_i].others);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launcher");
	TCase *c = tcase_create("command lines");

	tcase_add_loop_test(c, every_spelling, 0, ARRAY_SIZE(lines));
	tcase_add_loop_test(c, step_of_agents, 0, ARRAY_SIZE(steps));
	tcase_add_test(c, arbitrary_hosts);
	tcase_add_test(c, one_group_of_several);
	tcase_add_loop_test(c, command_finds_its_agents, 0, ARRAY_SIZE(commands));
	tcase_add_test(c, wishes_for_the_command_only);
	tcase_add_test(c, agents_have_what_env_sets_before_the_launcher);
	tcase_add_test(c, unknown_launchers);
	tcase_add_loop_test(c, scripts_of_launchers_names, 0, ARRAY_SIZE(scripts));
	tcase_add_test(c, arguments_are_not_run);
	tcase_add_loop_test(c, coarrays_by_cafrun, 0, ARRAY_SIZE(coarrays));
	tcase_add_loop_test(c, other_hosts, 0, ARRAY_SIZE(hosts));
	suite_add_tcase(suite, c);
	return run_suite(suite);
}
