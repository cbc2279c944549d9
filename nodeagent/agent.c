/* SPDX-License-Identifier: BSD-3-Clause */
/* vftr-node-agent: its command line, and the order in which things happen. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/collate.h"
#include "nodeagent/finish.h"
#include "nodeagent/launch.h"
#include "nodeagent/peer.h"
#include "nodeagent/place.h"
#include "nodeagent/process.h"
#include "nodeagent/session.h"
#include "nodeagent/siblings.h"
#include "nodeagent/symcache.h"
#include "nodeagent/util.h"

#define OWN_FAILURE 125 /* as env, nice and timeout: COMMAND was not run */

enum { OPTION_PRELOAD = 256, OPTION_LAUNCHER, OPTION_EMBEDDED, OPTION_SIBLING };

static const struct {
	struct option o;
	const char *argument, *text;
} options[] = {
	{{"config", required_argument, NULL, 'c'}, "FILE", "configuration (default: $VFTR_CONFIG)"},
	{{"output", required_argument, NULL, 'o'}, "DIR", "same as --set output_directory=DIR"},
	{{"set", required_argument, NULL, 'k'}, "KEY=VALUE", "change one key of the configuration"},
	{{"session", required_argument, NULL, 's'}, "NAME",
		"name by which processes find the agent (default: $VFTR_SESSION or \"default\")"},
	{{"preload", no_argument, NULL, OPTION_PRELOAD}, NULL,
		"preload the tracing library into COMMAND's processes"},
	{{"agent-launcher", required_argument, NULL, OPTION_LAUNCHER}, "CMD",
		"start the agents of several nodes with CMD, one per node"},
	{{"quiet", no_argument, NULL, 'q'}, NULL, "do not say where the profile is"},
	{{"help", no_argument, NULL, 'h'}, NULL, "print this"},
	{{"version", no_argument, NULL, 'V'}, NULL, "print the version"},
	{{"embedded", no_argument, NULL, OPTION_EMBEDDED}, NULL, NULL},
	{{"sibling", no_argument, NULL, OPTION_SIBLING}, NULL, NULL},
};

static void usage(void)
{
	printf("Usage: vftr-node-agent [OPTIONS] -- COMMAND [ARGS...]   run COMMAND traced\n"
	       "  or:  mpirun --map-by ppr:1:node vftr-node-agent [OPTIONS]   beside another "
	       "mpirun\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char name[64], letter[8] = "    ";

		if (!options[i].text)
			continue;
		if (options[i].o.val < 256)
			snprintf(letter, sizeof(letter), "-%c, ", options[i].o.val);
		snprintf(name, sizeof(name), "%s--%s%s%s", letter, options[i].o.name,
			options[i].argument ? " " : "",
			options[i].argument ? options[i].argument : "");
		printf("  %-28s %s\n", name, options[i].text);
	}
	printf("\nThe exit status is COMMAND's, 128+n if signal n ended it, or 125 if it was not "
	       "run.\n"
	       "See vftr-node-agent(1).\n");
}

static void print_line(const char *line, void *ctx)
{
	complain("%s", line);
}

static void read_configuration(struct agent *a, const char *file)
{
	char *error = NULL;

	if (!file) {
		a->conf = conf_default();
		if (!a->conf)
			die(OWN_FAILURE, "out of memory");
	} else if (conf_load(&a->conf, file, &error, print_line, NULL)) {
		die(OWN_FAILURE, "%s", error ? error : "out of memory");
	}
}

static void set_key(struct agent *a, char *assignment)
{
	char *equals = strchr(assignment, '='), *error = NULL;

	if (!equals)
		die(OWN_FAILURE, "--set %s: not of the form KEY=VALUE", assignment);
	*equals = '\0';
	if (conf_set(a->conf, assignment, equals + 1, &error))
		die(OWN_FAILURE, "--set %s", error ? error : "out of memory");
	*equals = '=';
}

static void catch_signals(struct agent *a)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->signals < 0 || a->epoll < 0 || agent_watch(a, a->signals, WATCH_SIGNALS, NULL))
		die(OWN_FAILURE, "cannot watch signals: %s", strerror(errno));
}

static void more_descriptors(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void check_output(struct agent *a)
{
	char *error = NULL, path[PATH_MAX];

	if (conf_check_paths(a->conf, &error))
		die(OWN_FAILURE, "%s", error ? error : "out of memory");
	if (!realpath(a->conf->output_directory, path))
		die(OWN_FAILURE, "output_directory %s: %s", a->conf->output_directory,
			strerror(errno));
	if (access(path, W_OK | X_OK))
		die(OWN_FAILURE, "output_directory %s: %s", path, strerror(errno));
	a->output_directory = xstrdup(path);
}

/*
 * Away from the process that started us: own session, no terminal, none of its
 * files. From here on only the logs speak.
 */
static void detach(void)
{
	sigset_t none;
	pid_t pid = fork();
	int null;

	if (pid < 0)
		die(OWN_FAILURE, "fork: %s", strerror(errno));
	if (pid > 0)
		_exit(0);
	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	null = open("/dev/null", O_RDWR);
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (null > 2)
		close(null);
}

static char *own_path(const char *argv0)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		return xstrdup(argv0);
	path[n] = '\0';
	return xstrdup(path);
}

static char *session_name(const struct launch *l, const char *wanted)
{
	const char *named = getenv("VFTR_SESSION");

	if (wanted || (named && named[0]))
		return xstrdup(wanted ? wanted : named);
	return l->command ? xasprintf("run-%d", (int)getpid()) : xstrdup("default");
}

struct command_line {
	const char *config, *session;
	char *set[64];
	int n_set;
};

static void parse(int argc, char **argv, struct agent *a, struct launch *l, struct command_line *c)
{
	struct option o[ARRAY_SIZE(options) + 1] = {0};
	int k;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		o[i] = options[i].o;
	opterr = 0;
	while ((k = getopt_long(argc, argv, "+:c:o:k:s:qhV", o, NULL)) != -1) {
		switch (k) {
		case 'c':
			c->config = optarg;
			break;
		case 'o':
		case 'k':
			if (c->n_set == (int)ARRAY_SIZE(c->set))
				die(OWN_FAILURE, "more than %d --set options", c->n_set);
			c->set[c->n_set++] = k == 'k' ? xstrdup(optarg)
						      : xasprintf("output_directory=%s", optarg);
			break;
		case 's':
			if (!optarg[0] || strchr(optarg, '/'))
				die(OWN_FAILURE,
					"--session `%s': a session's name is not empty and has no "
					"`/'",
					optarg);
			c->session = optarg;
			break;
		case 'q':
			a->quiet = true;
			break;
		case OPTION_PRELOAD:
			l->preload = true;
			break;
		case OPTION_LAUNCHER:
			l->agent_launcher = optarg;
			break;
		case OPTION_EMBEDDED:
			a->embedded = a->quiet = true;
			break;
		case OPTION_SIBLING:
			a->sibling = a->quiet = true;
			break;
		case 'h':
			usage();
			exit(0);
		case 'V':
			printf("vftr-node-agent %s\n", VFTR_VERSION);
			exit(0);
		default:
			die(OWN_FAILURE,
				k == ':' ? "option %s needs a value"
					 : "unknown option %s; see --help",
				argv[optind - 1]);
		}
	}
	if (optind < argc)
		l->command = argv + optind;
	if (l->preload && !l->command)
		die(OWN_FAILURE, "--preload needs a COMMAND to preload into");
	if (!c->config)
		c->config = getenv("VFTR_CONFIG");
}

/* The agent that runs the command waits for this on our standard output. */
static void say_ready(const struct agent *a)
{
	const char *host;

	printf(AGENTS_READY);
	for (unsigned i = 0; (host = collate_host(a->peer, i)); i++)
		printf(" %s", host);
	putchar('\n');
	fflush(stdout);
}

/* The session is ours, or this does not return. */
static void take_session(struct agent *a)
{
	char *error = NULL;
	int taken = session_open(a, &error);

	/* of several ranks that start one, all but one give way in silence */
	if (taken == 1 && a->embedded)
		exit(0);
	if (taken)
		die(OWN_FAILURE, "%s", error);
	if (a->embedded) { /* what is wrong has been said */
		detach();
		session_sign(a);
	}
}

static int serve(struct agent *a, const struct launch *l)
{
	char *error = NULL;
	int failed;

	agent_watch(a, a->listener, WATCH_LISTENER, NULL);
	if (!l->command && !a->embedded && siblings_join(a, &error)) {
		session_close(a);
		die(OWN_FAILURE, "%s", error);
	}
	if (a->sibling && (!a->peer || a->peer->rank == 0))
		say_ready(a);
	if (l->command && launch_command(a, l, &error)) {
		session_close(a);
		die(OWN_FAILURE, "%s", error);
	}
	agent_serve(a);
	session_close(a);
	if (l->command && !a->n_ever && !a->conf->off && !getenv("VFTR_OFF"))
		complain("no process of %s was traced (see vftr doctor %s)", l->command[0],
			l->command[0]);
	failed = agent_finish(a);
	if (a->peer)
		siblings_leave(a, failed);
	return l->command ? launch_exit_status(a->command_status) : failed;
}

int main(int argc, char **argv)
{
	struct timespec now;
	struct agent a = {.lock = -1, .listener = -1};
	struct launch l = {0};
	struct command_line c = {0};
	char host[256] = "localhost";

	program_name = "vftr-node-agent";
	launch_remember_signals();
	parse(argc, argv, &a, &l, &c);
	if (a.embedded) /* nothing of the process that started us stays open */
		close_range(3, ~0u, 0);
	if (!l.command && !a.embedded && peer_wanted())
		peer_shield();
	read_configuration(&a, c.config && c.config[0] ? c.config : NULL);
	for (int i = 0; i < c.n_set; i++)
		set_key(&a, c.set[i]);
	check_output(&a);
	l.program = own_path(argv[0]);
	if (!l.agent_launcher)
		l.agent_launcher = a.conf->agent_launcher;
	if (l.command && launch_is_distributed(&l))
		return launch_distributed(&a, &l, c.config, c.set, c.n_set);
	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	a.host = host;
	a.session = session_name(&l, c.session);
	a.start_raw_ns = clock_raw_ns();
	clock_gettime(CLOCK_REALTIME, &now);
	a.start_s = now.tv_sec;
	a.start_exact_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	a.ring_bytes = RING_SEGMENT_BYTES(a.conf->shm_ring_size);
	a.ring_bytes_most = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
	clocks_init(&a.clocks, a.conf->clock_source);
	take_session(&a);
	a.symbols = symcache_new(&a);
	more_descriptors();
	catch_signals(&a);
	place_init(&a);
	return serve(&a, &l);
}
