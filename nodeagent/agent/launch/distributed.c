/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The everyday form on several nodes: one agent per node, started with the
 * launcher and the hosts of the command; then the command; then the agents are
 * told by SIGUSR1, which launchers pass on, that it is over. If the agents'
 * launcher fails, the summary is made from the node profiles that were written.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/net/ending.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/agent/launch/launcher-slurm.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/agent/launch/untraced.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/base/util.h"
#include "shm/atomic.h"

#define PATIENCE_S  30 /* then we say what we wait for */
#define SALVAGE_S   10 /* of the time before SIGKILL: to end them and to make the summary */
#define LEAVE_S	    2  /* for an agents' launcher that is told to end */
#define CONTINUE_S  1
#define LOOK_MS	    500
#define HOSTS_BYTES (1 << 20)

/* What another process needs to make the summary if the front is killed. */
struct front_hosts {
	uint32_t ready;		 /* all agents are there, and the texts are filled */
	char nodes[HOSTS_BYTES]; /* where Slurm has put them, "node[1-3]"; else empty */
	char names[HOSTS_BYTES]; /* with blanks between them */
};

struct front {
	struct agent *agent;
	launch_salvage *salvage;
	pid_t agents; /* their launcher, 0: it has ended */
	int agents_output, signals;
	bool passes_on;		   /* their launcher, SIGUSR2 */
	bool told_term;		   /* they know that SIGTERM has come */
	bool told_nodes;	   /* COMMAND's launcher is told where the agents are */
	uint32_t untraced;	   /* no process came to any agent */
	uint32_t failed;	   /* an agent has said that it can't be one of them */
	uint32_t output_ended;	   /* all that they have said has been passed on */
	struct front_hosts *hosts; /* shared with the supervisor */
};

static double now_s(void)
{
	return 1e-9 * (double)clock_raw_ns();
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

static void agents_command(const struct agent *a, const struct launch *l, const char *config,
	char **set, int n_set, char *const *pass, struct arguments *out)
{
	struct arguments launcher = {0};
	char run[17];

	if (l->agent_launcher)
		split(l->agent_launcher, &launcher);
	else
		launcher_one_per_node(l->command, &launcher);
	launcher_pass_environment(launcher.v, pass, NULL, out);
	arguments_free(&launcher);
	arguments_add(out, l->program);
	snprintf(run, sizeof(run), "%016" PRIx64, a->host.run);
	arguments_add(out, "--sibling");
	arguments_add(out, "--run");
	arguments_add(out, run);
	arguments_add(out, "--started");
	arguments_add(out, l->started);
	arguments_add(out, "--session");
	arguments_add(out, a->host.session);
	if (config && config[0]) {
		arguments_add(out, "--config");
		arguments_add(out, config);
	}
	if (l->lenient)
		arguments_add(out, "--lenient");
	for (int i = 0; i < n_set; i++) {
		arguments_add(out, "--set");
		arguments_add(out, set[i]);
	}
}

/* same: the command, if the agents have its launcher, or NULL. */
static int start_agents(struct front *f, char *const *argv, char *const *same, char **error)
{
	int fds[2], saved[2], exec_error;
	char **environment = environ;

	if (pipe2(fds, O_CLOEXEC)) {
		*error = xasprintf("pipe: %s", strerror(errno));
		return -1;
	}
	saved[0] = dup(STDOUT_FILENO);
	saved[1] = dup(STDERR_FILENO);
	dup2(fds[1], STDOUT_FILENO);
	dup2(fds[1], STDERR_FILENO);
	environ = launcher_agents_environment(same);
	f->agents = launch_child(argv, SIGTERM, &exec_error);
	free(environ);
	environ = environment;
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

/* Of launchers, about what we have told them: nothing is wrong. */
static bool is_noise(const char *line)
{
	return strstr(line, "Forwarding signal") || strstr(line, "got SIGCONT") ||
	       strstr(line, "lacks support for cpu binding");
}

/*
 * What the agents and their launcher print goes to standard error, without the
 * words that we wait for and without launchers' remarks on what we tell them.
 */
static void *forward_output(void *front)
{
	struct front *f = front;
	FILE *in = fdopen(f->agents_output, "re");
	char *line = NULL;
	size_t bytes = 0;

	while (in && getline(&line, &bytes, in) > 0) {
		if (!strncmp(line, AGENTS_READY, strlen(AGENTS_READY))) {
			snprintf(f->hosts->names, sizeof(f->hosts->names), "%s",
				line + strlen(AGENTS_READY));
			store_release(&f->hosts->ready, 1);
		} else if (!strncmp(line, AGENTS_NODES, strlen(AGENTS_NODES))) {
			line[strcspn(line, "\n")] = '\0';
			snprintf(f->hosts->nodes, sizeof(f->hosts->nodes), "%s",
				f->told_nodes ? line + strlen(AGENTS_NODES) : "");
		} else if (!strncmp(line, AGENTS_FAILED, strlen(AGENTS_FAILED))) {
			store_release(&f->failed, 1);
		} else if (strstr(line, AGENTS_UNTRACED)) {
			store_release(&f->untraced, 1);
		} else if (!is_noise(line)) {
			fputs(line, stderr);
		}
	}
	free(line);
	store_release(&f->output_ended, 1);
	return NULL;
}

/* Their launcher has ended, or did before. */
static bool agents_ended(struct front *f, int *status)
{
	*status = 0;
	if (!f->agents || waitpid(f->agents, status, WNOHANG) == f->agents)
		f->agents = 0;
	return !f->agents;
}

static void rest(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* In one line what runs, for those who wonder what we are waiting for. */
static char *as_words(char *const *argv)
{
	char *text = xstrdup("");

	for (int i = 0; argv[i]; i++)
		text = xappend(text, "%s%s", i ? " " : "", argv[i]);
	return text;
}

static void say_waiting(char *const *argv, double most_s)
{
	char *words = as_words(argv);

	complain("the agents are not there after %d s; COMMAND is not run before them, nor if they "
		 "need more than %g s (twice agent.start_s). They are started with: %s",
		PATIENCE_S, most_s, words);
	complain("If that cannot work here, start them in another way with --agent-launcher CMD, "
		 "or inside of the job: LAUNCHER vftr-node-agent --in-step -- PROGRAM");
	free(words);
}

static bool wait_ready(struct front *f, char *const *argv)
{
	struct conf *conf = f->agent->host.conf;
	double start = now_s(), most_s;
	bool said = false;
	char *of;
	int status;

	conf_settle_agents(conf, (int)slurm_nodes(&of)); /* elsewhere the number is not known */
	free(of);
	most_s = 2 * conf->agent_start_s;

	while (!load_acquire(&f->hosts->ready) && now_s() < start + most_s) {
		if (load_acquire(&f->failed) || agents_ended(f, &status))
			return false;
		if (!said && now_s() > start + PATIENCE_S) {
			say_waiting(argv, most_s);
			said = true;
		}
		rest();
	}
	return load_acquire(&f->hosts->ready);
}

/* They did not start: none of them stays, and what they said has been passed on. */
static void end_agents(struct front *f)
{
	double until = now_s() + LEAVE_S;
	int status;

	if (f->agents)
		kill(f->agents, SIGTERM);
	while (!agents_ended(f, &status) && now_s() < until)
		rest();
	if (f->agents)
		kill(f->agents, SIGKILL);
	until = now_s() + LEAVE_S;
	while (!load_acquire(&f->output_ended) && now_s() < until)
		rest();
}

static void on_signals(struct front *f)
{
	struct signalfd_siginfo s;
	int status;

	while (read(f->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGCHLD && f->agents && agents_ended(f, &status))
			complain(
				"the agents' launcher ended early (status %d); the command goes on",
				launch_exit_status(status));
		/* with a supervisor, he alone says what is to be done */
		if (!supervised_is() &&
			(s.ssi_signo == SIGTERM || s.ssi_signo == SIGINT || s.ssi_signo == SIGHUP))
			f->agent->told_to_stop = true;
	}
}

/* MPICH's hydra does not, but dies of it; what scripts do, nobody knows. */
static bool passes_sigusr2_on(const char *agents_launcher)
{
	const enum launcher_kind kind = launcher_kind(agents_launcher);

	return kind == LAUNCHER_OPENMPI || kind == LAUNCHER_SLURM;
}

/*
 * SIGTERM has come: so the agents know it, where their launcher is one that passes this signal
 * on. Others are left alone, as it would end them.
 */
static void tell_term(struct front *f)
{
	if (!ending_is() || f->told_term || !f->agents)
		return;
	f->told_term = true;
	if (f->passes_on)
		kill(f->agents, SIGUSR2);
}

static void wait_for_command(struct front *f)
{
	struct agent *a = f->agent;

	while (a->command && !a->told_to_stop) {
		struct pollfd p[] = {{.fd = f->signals, .events = POLLIN},
			{.fd = supervised_link(), .events = POLLIN},
			{.fd = supervised_is() ? -1 : supervised_end(), .events = POLLIN}};

		poll(p, ARRAY_SIZE(p), supervised_is() ? -1 : LOOK_MS);
		if (p[0].revents)
			on_signals(f);
		if (p[1].revents)
			supervised_news(a);
		tell_term(f);
		if (p[2].revents)
			supervised_ended(a);
		supervised_look(a);
	}
}

/* Somebody has asked us to end, and did not leave time for it. */
static bool at_once(const struct front *f)
{
	return f->agent->at_once && !ending_is();
}

/* Until the agents have ended, or this time; false: they have not. */
static bool agents_end_by(struct front *f, double until, int *status)
{
	struct timespec pause = {0, 10000000};

	for (;;) {
		if (agents_ended(f, status))
			return true;
		if (now_s() > until || at_once(f))
			return false;
		nanosleep(&pause, NULL);
		supervised_news(f->agent);
		tell_term(f);
	}
}

/* False if they did not end well in time. */
static bool wait_for_agents(struct front *f, double seconds)
{
	double until = now_s() + seconds;
	bool term = false;
	int status;

	if (!f->agents)
		return false;
	ending_writes();
	kill(f->agents, SIGUSR1);
	/* what somebody has stopped goes on to its end */
	while (now_s() < until && !at_once(f)) {
		if (!term && ending_is()) {
			term = true;
			until = now_s() + ending_left(until - now_s(), SALVAGE_S);
		}
		kill(f->agents, SIGCONT);
		if (agents_end_by(f, now_s() + CONTINUE_S, &status))
			return status == 0;
	}
	kill(f->agents, SIGTERM);
	if (!agents_end_by(f, now_s() + 2, &status)) {
		kill(f->agents, SIGKILL);
		waitpid(f->agents, &status, 0);
	}
	return false;
}

/* In a child of the supervisor: the front was killed. */
static bool on_bereaved(void *front)
{
	struct front *f = front;

	return f->salvage(f->agent, f->hosts->names,
		true); /* the agents' launcher ends with the front: they write by themselves */
}

static void catch_signals(struct front *f)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	signal(SIGPIPE, SIG_IGN);
	f->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
	if (f->signals < 0)
		die(OWN_FAILURE, "cannot watch signals: %s", strerror(errno));
}

int launch_distributed(struct agent *a, const struct launch *l, const char *config, char **set,
	int n_set, launch_salvage *salvage)
{
	static struct front f; /* the thread may outlive us */
	struct arguments agents = {0};
	char *error = NULL, *none[] = {NULL}, *runtime[] = {"VFTR_RUNTIME_DIR", NULL};
	const char *dir = getenv("VFTR_RUNTIME_DIR");
	pthread_t forwarder;
	bool made;

	a->host.session =
		xasprintf("run-%s-%d", a->host.name ? a->host.name : "node", (int)getpid());
	f = (struct front){.agent = a, .salvage = salvage};
	f.hosts = mmap(
		NULL, sizeof(*f.hosts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (f.hosts == MAP_FAILED)
		die(OWN_FAILURE, "no memory: %s", strerror(errno));
	f.told_nodes = launcher_chooses_nodes(l->command);
	launch_supervised(a, l, f.hosts->nodes, on_bereaved, &f);
	catch_signals(&f);
	unsetenv("LD_PRELOAD");				     /* the agents are not to be traced */
	setenv("OMPI_MCA_orte_forward_job_control", "1", 1); /* SIGCONT reaches them */
	agents_command(a, l, config, set, n_set, dir && dir[0] ? runtime : none, &agents);
	f.passes_on = passes_sigusr2_on(agents.v[0]);
	if (start_agents(&f, agents.v, l->agent_launcher ? NULL : l->command, &error))
		die(OWN_FAILURE, "%s", error);
	if (pthread_create(&forwarder, NULL, forward_output, &f))
		die(OWN_FAILURE, "no thread for the output of the agents");
	pthread_detach(forwarder);
	if (!wait_ready(&f, agents.v)) {
		end_agents(&f);
		die(OWN_FAILURE,
			"the agents did not start; COMMAND was not run. Their launcher was: %s",
			as_words(agents.v));
	}
	if (supervised_run(a)) { /* it has been said */
		kill(f.agents, SIGTERM);
		return OWN_FAILURE;
	}
	sandbox_enter(SANDBOX_AGENT); /* what it was to start has started */
	wait_for_command(&f);
	made = salvage(
		a, f.hosts->names, !wait_for_agents(&f, 2 * a->host.conf->agent_deadline_s + 10));
	if (load_acquire(&f.untraced) && !untraced_is_off(a->host.conf))
		untraced_say(l, 0); /* their own agents have told of others */
	else if (load_acquire(&f.untraced) && !a->quiet)
		untraced_say_off(a->host.conf);
	arguments_free(&agents);
	return !made || load_acquire(&f.untraced);
}
