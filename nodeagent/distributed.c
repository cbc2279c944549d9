/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The everyday form on several nodes: one agent per node, started with the
 * launcher and the hosts of the command; then the command; then the agents are
 * told by SIGUSR1, which launchers pass on, that it is over. If the agents'
 * launcher fails, the summary is made from the node profiles that were written.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/collate.h"
#include "nodeagent/launch.h"
#include "nodeagent/launcher.h"
#include "nodeagent/output.h"
#include "nodeagent/merge.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "shm/atomic.h"

#define READY_S	    120
#define OWN_FAILURE 125
#define ORPHANS_S   5 /* agents without a launcher write within this time */

struct front {
	struct agent *agent;
	pid_t agents, command;
	int agents_output;
	uint32_t ready; /* all agents are there, and hosts is filled */
	struct arguments hosts;
	bool agents_gone;
	time_t started;
};

static volatile sig_atomic_t terminate;

static void on_terminate(int signal)
{
	terminate = signal;
}

/* "mpirun -H a,b" as words; no quoting: what needs it can be a script. */
static void split(const char *text, struct arguments *out)
{
	char *copy = xstrdup(text), *save = NULL;

	for (char *word = strtok_r(copy, " \t\n", &save); word;
		word = strtok_r(NULL, " \t\n", &save))
		arguments_add(out, word);
	free(copy);
}

static void agents_command(const struct launch *l, const char *session, const char *config,
	char **set, int n_set, char *const *pass, struct arguments *out)
{
	struct arguments launcher = {0};

	if (l->agent_launcher)
		split(l->agent_launcher, &launcher);
	else
		launcher_one_per_node(l->command, &launcher);
	launcher_pass_environment(launcher.v, pass, out);
	arguments_free(&launcher);
	arguments_add(out, l->program);
	arguments_add(out, "--sibling");
	arguments_add(out, "--session");
	arguments_add(out, session);
	if (config && config[0]) {
		arguments_add(out, "--config");
		arguments_add(out, config);
	}
	for (int i = 0; i < n_set; i++) {
		arguments_add(out, "--set");
		arguments_add(out, set[i]);
	}
}

static int start_agents(struct front *f, char *const *argv, char **error)
{
	int fds[2], saved[2], exec_error;

	if (pipe2(fds, O_CLOEXEC)) {
		*error = xasprintf("pipe: %s", strerror(errno));
		return -1;
	}
	saved[0] = dup(STDOUT_FILENO);
	saved[1] = dup(STDERR_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	dup2(fds[1], STDERR_FILENO);
	f->agents = launch_child(argv, SIGTERM, &exec_error);
	dup2(saved[0], STDOUT_FILENO);
	dup2(saved[1], STDERR_FILENO);
	close(saved[0]);
	close(saved[1]);
	close(fds[1]);
	f->agents_output = fds[0];
	if (f->agents > 0)
		return 0;
	*error = xasprintf("cannot start the agents with %s: %s", argv[0], strerror(exec_error));
	return -1;
}

/*
 * What the agents and their launcher print goes to standard error, without the
 * word that we wait for and without mpirun's remark on the signal we send it.
 */
static void *forward_output(void *front)
{
	struct front *f = front;
	FILE *in = fdopen(f->agents_output, "re");
	char *line = NULL;
	size_t bytes = 0;

	while (in && getline(&line, &bytes, in) > 0) {
		if (!strncmp(line, AGENTS_READY, strlen(AGENTS_READY))) {
			split(line + strlen(AGENTS_READY), &f->hosts);
			store_release(&f->ready, 1);
		} else if (!strstr(line, "Forwarding signal"))
			fputs(line, stderr);
	}
	free(line);
	return NULL;
}

static bool wait_ready(struct front *f)
{
	double until = (double)time(NULL) + READY_S;
	struct timespec pause = {0, 2000000};
	int status;

	while (!load_acquire(&f->ready) && (double)time(NULL) < until && !terminate) {
		if (waitpid(f->agents, &status, WNOHANG) == f->agents)
			return false;
		nanosleep(&pause, NULL);
	}
	return load_acquire(&f->ready);
}

static int wait_for_command(struct front *f)
{
	int status, sent = 0;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, 0);
		if (pid == f->command)
			return status;
		if (pid == f->agents) {
			f->agents_gone = true;
			complain(
				"the agents' launcher ended early (status %d); the command goes on",
				launch_exit_status(status));
		}
		if (pid < 0 && errno == EINTR && terminate != sent) {
			sent = terminate;
			kill(f->command, terminate);
		}
		if (pid < 0 && errno == ECHILD)
			return 0;
	}
}

/* False if the agents did not end well in time. */
static bool wait_for_agents(struct front *f, double seconds)
{
	double until = (double)time(NULL) + seconds;
	int status;

	if (f->agents_gone) {
		sleep(ORPHANS_S);
		return false;
	}
	kill(f->agents, SIGUSR1);
	while ((double)time(NULL) < until) {
		struct timespec pause = {0, 10000000};

		if (waitpid(f->agents, &status, WNOHANG) == f->agents)
			return status == 0;
		nanosleep(&pause, NULL);
	}
	kill(f->agents, SIGTERM);
	sleep(2);
	kill(f->agents, SIGKILL);
	waitpid(f->agents, &status, 0);
	return false;
}

static bool written_since(const char *path, time_t when)
{
	struct stat st;

	return !stat(path, &st) && st.st_mtime >= when;
}

/* Hosts that had an agent and left no profile. */
static void name_missing(const struct front *f, struct profile *p)
{
	size_t n = p->n_agents;

	for (size_t i = 0; i < f->hosts.n; i++) {
		size_t k = 0;

		while (k < n && strcmp(p->agents[k].host, f->hosts.v[i]))
			k++;
		if (k < n)
			continue;
		p->agents = xrealloc(p->agents, (p->n_agents + 1) * sizeof(*p->agents));
		p->agents[p->n_agents++] =
			(struct profile_agent){.host = xstrdup(f->hosts.v[i]), .missing = true};
	}
	profile_sort(p);
}

/* A summary of this run is there, or is made from this run's node profiles. */
static void ensure_summary(struct front *f)
{
	const char *dir = f->agent->output_directory;
	struct collate_files *sets = NULL;
	size_t n = 0;
	char *error = NULL;

	if (collate_find(dir, &sets, &n, &error)) {
		complain("%s", error ? error : "no node profiles");
		free(error);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		char *log = xasprintf("%s/%s_all.log", dir, sets[i].base);
		size_t fresh = 0, bad;

		for (size_t k = 0; k < sets[i].n; k++)
			if (written_since(sets[i].paths[k], f->started)) {
				char *path = sets[i].paths[k];

				sets[i].paths[k] = sets[i].paths[fresh];
				sets[i].paths[fresh++] = path;
			}
		if (fresh && !written_since(log, f->started)) {
			struct profile *p = collate_read(sets[i].paths, fresh, &bad, NULL, NULL);

			if (p) {
				name_missing(f, p);
				profile_warn(p,
					"collated from %zu node profiles, as not all agents "
					"could finish together",
					fresh);
				if (output_summary(p, f->agent->conf, dir, sets[i].base, &error))
					complain("%s", error);
				free(error);
				error = NULL;
			}
			profile_free(p);
		}
		if (fresh && !f->agent->quiet)
			complain("profile: %s", log);
		free(log);
	}
	collate_files_free(sets, n);
}

int launch_distributed(
	struct agent *a, const struct launch *l, const char *config, char **set, int n_set)
{
	static struct front f; /* the thread may outlive us */
	struct arguments pass = {0}, agents = {0}, command = {0};
	char *session = xasprintf("run-%s-%d", a->host ? a->host : "node", (int)getpid()),
	     *error = NULL;
	struct sigaction action = {.sa_handler = on_terminate};
	char *none[] = {NULL}, *runtime[] = {"VFTR_RUNTIME_DIR", NULL};
	const char *dir = getenv("VFTR_RUNTIME_DIR");
	char *old_preload;
	pthread_t forwarder;
	int exec_error, status;

	f = (struct front){.agent = a, .started = time(NULL)};
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
	signal(SIGINT, SIG_IGN); /* the terminal sends it to the command, too */
	launch_environment(l, session, &pass, &error);
	if (error)
		die(OWN_FAILURE, "%s", error);
	old_preload = getenv("LD_PRELOAD") ? xstrdup(getenv("LD_PRELOAD")) : NULL;
	if (old_preload) /* the agents are not to be traced */
		unsetenv("LD_PRELOAD");
	agents_command(l, session, config, set, n_set, dir && dir[0] ? runtime : none, &agents);
	if (start_agents(&f, agents.v, &error))
		die(OWN_FAILURE, "%s", error);
	if (pthread_create(&forwarder, NULL, forward_output, &f))
		die(OWN_FAILURE, "no thread for the output of the agents");
	pthread_detach(forwarder);
	if (!wait_ready(&f)) {
		kill(f.agents, SIGTERM);
		die(OWN_FAILURE,
			"the agents did not start; COMMAND was not run. Their launcher was: %s ...",
			agents.v[0]);
	}
	if (old_preload)
		setenv("LD_PRELOAD", old_preload, 1);
	launcher_pass_environment(l->command, pass.v, &command);
	f.command = launch_child(command.v, 0, &exec_error);
	if (f.command < 0) {
		kill(f.agents, SIGTERM);
		die(OWN_FAILURE, "cannot run %s: %s", l->command[0], strerror(exec_error));
	}
	status = wait_for_command(&f);
	wait_for_agents(&f, 2 * a->conf->agent_deadline_s + 10);
	ensure_summary(&f);
	arguments_free(&pass);
	arguments_free(&agents);
	arguments_free(&command);
	free(old_preload);
	free(session);
	return launch_exit_status(status);
}
