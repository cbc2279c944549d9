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
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/last-words.h"
#include "nodeagent/agent/loop.h"
#include "nodeagent/attach/attach.h"
#include "nodeagent/agent/observers.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/report/observables.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/agent/launch/company.h"
#include "nodeagent/net/tcp/contact.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/agent/step/step.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/agent/affinity.h"
#include "nodeagent/agent/results/older-results.h"
#include "nodeagent/agent/results/run-folder.h"
#include "nodeagent/agent/run-start.h"
#include "nodeagent/agent/salvage.h"
#include "nodeagent/agent/snapshot.h"
#include "nodeagent/agent/standby.h"
#include "nodeagent/process/process.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/process/rings.h"
#include "nodeagent/process/rendezvous.h"
#include "nodeagent/agent/peers.h"
#include "nodeagent/agent/launch/supervisor.h"
#include "nodeagent/process/names.h"
#include "nodeagent/agent/launch/untraced.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/machine.h"
#include "nodeagent/base/util.h"

#define PROGRAM "vftr-node-agent"
#define PARTIAL 3 /* of what --expect asked for, something is missing */

enum {
	OPTION_PRELOAD = 256,
	OPTION_REQUIRE,
	OPTION_LAUNCHER,
	OPTION_IN_STEP,
	OPTION_EMBEDDED,
	OPTION_SIBLING,
	OPTION_RUN,
	OPTION_STARTED,
	OPTION_TAG,
	OPTION_PEERS,
	OPTION_LISTEN,
	OPTION_ME,
	OPTION_INTERFACE,
	OPTION_SECRET,
	OPTION_EXPECT,
	OPTION_WITHIN,
	OPTION_ON_DEATH,
	OPTION_PRINT_CONTACT,
	OPTION_LENIENT,
	OPTION_ATTACH,
	OPTION_NO_CHILDREN,
	OPTION_AS
};

static const struct {
	struct option o;
	const char *argument, *text;
} options[] = {
	{{"config", required_argument, NULL, 'c'}, "FILE",
		"configuration file; default: $VFTR_CONFIG"},
	{{"output", required_argument, NULL, 'o'}, "DIR",
		"write there: --set output_directory=DIR"},
	{{"set", required_argument, NULL, 'k'}, "KEY=VALUE", "change one key of the configuration"},
	{{"tag", required_argument, NULL, OPTION_TAG}, "KEY=VALUE",
		"write this into the results; may be repeated"},
	{{"lenient", no_argument, NULL, OPTION_LENIENT}, NULL,
		"only warn of unknown keys in the configuration"},
	{{"session", required_argument, NULL, 's'}, "NAME",
		"the name under which processes find the agent"},
	{{"preload", optional_argument, NULL, OPTION_PRELOAD}, "[=yes|no|auto]",
		"preload the tracing library into processes"},
	{{"require-profile", no_argument, NULL, OPTION_REQUIRE}, NULL,
		"125 if COMMAND ends with 0 without a profile"},
	{{"agent-launcher", required_argument, NULL, OPTION_LAUNCHER}, "CMD",
		"start the agents, one on each node, with CMD"},
	{{"in-step", no_argument, NULL, OPTION_IN_STEP}, NULL,
		"a launcher starts this in place of each rank"},
	{{"quiet", no_argument, NULL, 'q'}, NULL, "print nothing if the run goes well"},
	{{"help", no_argument, NULL, 'h'}, NULL, "this text"},
	{{"version", no_argument, NULL, 'V'}, NULL, "print the version"},
	{{"peers", required_argument, NULL, OPTION_PEERS}, "HOST:PORT,...",
		"join these agents over TCP; @FILE has the list"},
	{{"listen", required_argument, NULL, OPTION_LISTEN}, "ADDR:PORT",
		"listen for other agents at this address"},
	{{"me", required_argument, NULL, OPTION_ME}, "N", "this agent's place in --peers, from 0"},
	{{"interface", required_argument, NULL, OPTION_INTERFACE}, "NAME",
		"use this network interface only"},
	{{"secret", required_argument, NULL, OPTION_SECRET}, "FILE",
		"the agents' secret; default: ~/.vftr-secret"},
	{{"expect", required_argument, NULL, OPTION_EXPECT}, "N",
		"wait for N processes, here and at all CONTACTs"},
	{{"within", required_argument, NULL, OPTION_WITHIN}, "TIME",
		"wait for them for at most this time"},
	{{"on-death", required_argument, NULL, OPTION_ON_DEATH}, "keep|abort",
		"when one dies, the others go on (default) or end"},
	{{"print-contact", optional_argument, NULL, OPTION_PRINT_CONTACT}, "[=FILE]",
		"write the contact of this agent"},
	{{"embedded", no_argument, NULL, OPTION_EMBEDDED}, NULL, NULL},
	{{"sibling", no_argument, NULL, OPTION_SIBLING}, NULL, NULL},
	{{"run", required_argument, NULL, OPTION_RUN}, NULL, NULL},
	{{"started", required_argument, NULL, OPTION_STARTED}, NULL, NULL},
	{{"attach", required_argument, NULL, OPTION_ATTACH}, NULL, NULL},
	{{"no-children", no_argument, NULL, OPTION_NO_CHILDREN}, NULL, NULL},
	{{"as", required_argument, NULL, OPTION_AS}, NULL, NULL},
};

static void print_usage(void)
{
	printf("usage: vftr-node-agent [OPTIONS] -- COMMAND [ARGS...]   run COMMAND traced\n"
	       "  or:  srun|mpirun ... vftr-node-agent --in-step [OPTIONS] -- COMMAND\n"
	       "  or:  mpirun --map-by ppr:1:node vftr-node-agent [OPTIONS]   beside another "
	       "mpirun\n"
	       "  or:  vftr-node-agent --peers HOST:PORT,... [OPTIONS]   on each node, without "
	       "MPI\n"
	       "  or:  vftr-node-agent --expect N [OPTIONS] [CONTACT...]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		char name[64], letter[8] = "    ";

		if (!options[i].text)
			continue;
		if (options[i].o.val == OPTION_PEERS)
			printf("\nSessions, and several nodes without MPI; see "
			       "vftr-distributed(7):\n");
		if (options[i].o.val < 256)
			snprintf(letter, sizeof(letter), "-%c, ", options[i].o.val);
		snprintf(name, sizeof(name), "%s--%s%s%s", letter, options[i].o.name,
			options[i].argument && options[i].argument[0] != '[' ? " " : "",
			options[i].argument ? options[i].argument : "");
		printf("  %-28s %s\n", name, options[i].text);
	}
	printf("\nExit status: COMMAND's, 128+n if signal n ended it; 127 if COMMAND does not\n"
	       "exist, 126 if it cannot be executed, 125 if it was not run for another reason.\n"
	       "See vftr-node-agent(1).\n");
}

static void print_line(const char *line, void *ctx)
{
	complain("%s", line);
}

/* Unknown keys are mistakes, unless the user says that they are not his. */
static struct conf_reading reading(const struct launch *l)
{
	return (struct conf_reading){.lenient = l->lenient, .warn = print_line};
}

static void read_configuration(struct agent *a, const struct launch *l, const char *file)
{
	const struct conf_reading how = reading(l);
	char *error = NULL;

	if (!file) {
		a->host.conf = conf_default();
		if (!a->host.conf)
			die(OWN_FAILURE, "out of memory");
	} else if (conf_load(&a->host.conf, file, &error, &how)) {
		die(OWN_FAILURE, "%s", error ? error : "out of memory");
	}
}

static void set_key(struct agent *a, const char *assignment, const char *from)
{
	char *error = NULL;

	if (conf_assign(a->host.conf, assignment, &error))
		die(OWN_FAILURE, "%s %s", from, error ? error : "out of memory");
}

/* All but those of our own mistakes: a step's batch system sends any to all of its processes. */
static void catch_signals(struct agent *a)
{
	static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP};
	sigset_t set;

	sigfillset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		sigdelset(&set, fatal[i]);
	if (!supervised_is()) { /* the terminal's */
		sigdelset(&set, SIGTSTP);
		sigdelset(&set, SIGTTIN);
		sigdelset(&set, SIGTTOU);
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	a->host.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	a->host.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (a->host.signals < 0 || a->host.epoll < 0 ||
		host_watch(&a->host, a->host.signals, WATCH_SIGNALS, NULL))
		die(OWN_FAILURE, "cannot watch signals: %s", strerror(errno));
}

struct command_line {
	const char *config, *session;
	const char *folder;  /* --output */
	const char *started; /* by whom and how: run_start_text(); or NULL */
	const char *attach;  /* PIDs, with a comma between two; or NULL */
	bool no_children;    /* of these */
	char *set[64], *tags[64];
	int n_set, n_tags, n_environment; /* the first n_environment of set[] are of VFTR_SET */
	struct tcp_options tcp;
	bool print_contact, in_step;
	bool after_dashes;	  /* its arguments stand after -- */
	const char *contact_file; /* NULL: standard output */
};

/* A folder of its own is for who runs COMMAND, and for the other agents that he starts. True:
 * --output names it. */
static bool settle_layout(struct agent *a, const struct launch *l, const struct command_line *c)
{
	struct conf *conf = a->host.conf;
	const bool alone = l->command || a->form == FORM_ATTACH;
	const bool wished = alone && c->folder && result_layout(conf) == LAYOUT_RUN;
	char *error;

	if ((!alone && a->form != FORM_SIBLING &&
		    conf_set(conf, "output.layout", "vftrace", &error)) ||
		(wished && conf_set(conf, "output_directory", ".", &error)))
		die(OWN_FAILURE, "%s", error ? error : "out of memory");
	if (a->form == FORM_SIBLING && result_layout(conf) == LAYOUT_RUN)
		mkdir(conf->output_directory, 0777); /* what is wrong is said next */
	return wished;
}

/* What is kept in memory has all calls. */
static void settle_recorder(struct conf *c)
{
	if (c->sampling_keep <= 0)
		return;
	c->sampling_active = true;
	c->sampling_sample_interval = 0;
}

static const char *advice_on(const char *directory)
{
	return strcmp(directory, ".") || !access(directory, W_OK)
		       ? ""
		       : "; --output FOLDER takes another one";
}

/* folder: one that is made later has the results, wherever it is. */
static void check_output(struct agent *a, const struct launch *l, bool folder)
{
	const struct conf_reading how = reading(l);
	char *error = NULL, path[PATH_MAX];

	if (conf_settle_layout(a->host.conf) || conf_check_paths(a->host.conf, !folder, &error) ||
		conf_scenario(a->host.conf, &error, &how) || hwprof_check(a->host.conf, &error))
		die(OWN_FAILURE, "%s%s", error ? error : "out of memory",
			folder ? "" : advice_on(a->host.conf->output_directory));
	settle_recorder(a->host.conf);
	if (!realpath(a->host.conf->output_directory, path))
		die(OWN_FAILURE, "output_directory %s: %s", a->host.conf->output_directory,
			strerror(errno));
	if (!folder && access(path, W_OK | X_OK))
		die(OWN_FAILURE, "output_directory %s: %s", path, strerror(errno));
	a->host.output_directory = xstrdup(path);
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

/* By option or environment, or NULL. */
static const char *named_session(const char *wanted)
{
	const char *named = getenv("VFTR_SESSION");
	const char *name = wanted ? wanted : named && named[0] ? named : NULL;

	if (name && (!name[0] || name[0] == '.' || strchr(name, '/')))
		die(OWN_FAILURE,
			"%s `%s': a session's name is not empty, has no `/' and does not begin "
			"with `.'",
			wanted ? "--session" : "VFTR_SESSION", name);
	return name;
}

static char *session_name(const struct launch *l, const char *wanted)
{
	const char *named = named_session(wanted);

	if (named)
		return xstrdup(named);
	return l->command ? xasprintf("run-%d", (int)getpid()) : xstrdup("default");
}

static double option_number(const char *option, const char *text, double least, double most)
{
	char *end;
	double x;

	errno = 0;
	x = strtod(text, &end);
	if (!text[0] || *end || errno || !(x >= least && x <= most))
		die(OWN_FAILURE, "%s `%s': not a number from %g to %g", option, text, least, most);
	return x;
}

static double option_time(const char *option, const char *text, double least, double most)
{
	double s;

	if (!conf_time(text, &s) || !(s >= least && s <= most))
		die(OWN_FAILURE, "%s `%s': not a time from %g to %g s, such as 2.5 or 300ms",
			option, text, least, most);
	return s;
}

static unsigned whole_number(const char *option, const char *text, double least, double most)
{
	double x = option_number(option, text, least, most);

	if (x != (unsigned)x)
		die(OWN_FAILURE, "%s `%s': not a whole number", option, text);
	return (unsigned)x;
}

/* Options that say what this run is; false: another one. */
static bool parse_run(int k, char *value, struct agent *a, struct command_line *c)
{
	switch (k) {
	case OPTION_RUN:
		a->host.run = strtoull(value, NULL, 16);
		return true;
	case OPTION_STARTED:
		c->started = value;
		return true;
	case OPTION_ATTACH:
		c->attach = value;
		a->form = FORM_ATTACH;
		return true;
	case OPTION_NO_CHILDREN:
		c->no_children = true;
		return true;
	case OPTION_AS: /* what was typed, as long as it may be wrong */
		program_name = xasprintf("vftr: %s", value);
		return true;
	case OPTION_TAG:
		if (c->n_tags == (int)ARRAY_SIZE(c->tags))
			die(OWN_FAILURE, "--tag %s: more than %d of them", value, c->n_tags);
		c->tags[c->n_tags++] = value;
		return true;
	default:
		return false;
	}
}

/* Options of sessions over TCP; false: another one. */
static bool parse_tcp(int k, const char *value, struct agent *a, struct command_line *c)
{
	switch (k) {
	case OPTION_PEERS:
		c->tcp.peers = value;
		break;
	case OPTION_LISTEN:
		c->tcp.listen = value;
		break;
	case OPTION_ME:
		c->tcp.me = (int)whole_number("--me", value, 0, CONTACTS_MAX - 1);
		break;
	case OPTION_INTERFACE:
		c->tcp.interface = value;
		break;
	case OPTION_SECRET:
		c->tcp.secret = value;
		break;
	case OPTION_EXPECT:
		a->expect = whole_number("--expect", value, 1, 1e9);
		break;
	case OPTION_WITHIN:
		a->within_s = option_time("--within", value, 0.001, 1e9);
		break;
	case OPTION_ON_DEATH:
		a->abort_on_death = !strcmp(value, "abort");
		if (!a->abort_on_death && strcmp(value, "keep"))
			die(OWN_FAILURE, "--on-death `%s': not keep or abort", value);
		break;
	case OPTION_PRINT_CONTACT:
		c->print_contact = true;
		c->contact_file = value;
		break;
	default:
		return false;
	}
	return true;
}

/* What belongs together, after all options. */
static void check_tcp(struct agent *a, struct launch *l, struct command_line *c)
{
	struct tcp_options *t = &c->tcp;

	if (a->expect && l->command && c->after_dashes)
		die(OWN_FAILURE,
			"--expect takes contacts, no command: start `%s' by itself, while the "
			"agent waits",
			l->command[0]);
	if (a->expect && l->command) {
		t->contacts = l->command;
		while (t->contacts[t->n_contacts])
			t->n_contacts++;
		l->command = NULL;
	}
	t->meet_s = a->within_s;
	t->lead = a->expect && !t->peers && (t->n_contacts || t->listen);
	if (t->peers && t->n_contacts)
		die(OWN_FAILURE,
			"--expect takes contacts only without --peers, which has them already");
	if (t->me >= 0 && !t->peers)
		die(OWN_FAILURE, "--me needs --peers: it is this agent's place in that list");
	if (a->within_s > 0 && !a->expect && a->form != FORM_ATTACH)
		die(OWN_FAILURE, "--within needs --expect: it is how long that waits");
	a->several = t->peers || t->listen || t->lead;
	if (!a->several && (t->interface || c->print_contact))
		die(OWN_FAILURE, "--interface and --print-contact need --peers, --listen or "
				 "--expect with contacts");
	if (c->in_step && ((!l->command && !c->attach) || a->several))
		die(OWN_FAILURE, "--in-step needs a COMMAND, and no --peers or --listen");
	if (l->command && t->listen && !t->peers)
		die(OWN_FAILURE, "--listen with a COMMAND needs --peers");
}

static void add_assignment(struct command_line *c, char *assignment)
{
	if (c->n_set == (int)ARRAY_SIZE(c->set))
		die(OWN_FAILURE, "--set %s: more than %d keys, with those of VFTR_SET", assignment,
			c->n_set);
	c->set[c->n_set++] = assignment;
}

/* Before those of the command line: these win. */
static void read_environment(struct command_line *c)
{
	const char *list = getenv("VFTR_SET");
	char *one;

	while ((one = conf_next_assignment(&list)))
		add_assignment(c, one);
	c->n_environment = c->n_set;
}

static enum preload preload_choice(const char *text)
{
	static const char *const choices[] = {
		[PRELOAD_NO] = "no", [PRELOAD_YES] = "yes", [PRELOAD_AUTO] = "auto"};

	for (size_t i = 0; text && i < ARRAY_SIZE(choices); i++)
		if (!strcmp(text, choices[i]))
			return (enum preload)i;
	if (text)
		die(OWN_FAILURE, "--preload=%s: not yes, no or auto", text);
	return PRELOAD_YES;
}

/* The agents of other nodes get tags as a key. */
static void set_keys(struct agent *a, struct command_line *c)
{
	char *error;

	for (int i = 0; i < c->n_set; i++)
		set_key(a, c->set[i], i < c->n_environment ? "VFTR_SET:" : "--set");
	for (int i = 0; i < c->n_tags; i++)
		if (conf_add_tag(a->host.conf, c->tags[i], &error))
			die(OWN_FAILURE, "--tag: %s", error ? error : "out of memory");
	if (c->n_tags)
		add_assignment(c, xasprintf("output.tags=%s", a->host.conf->output_tags));
}

/* Of --output, whose meaning depends on a key that may come later. */
static char *output_choice(struct command_line *c, const char *directory)
{
	c->folder = directory;
	return xasprintf("output_directory=%s", directory);
}

static const char *launcher_choice(const char *text)
{
	if (!text[strspn(text, " \t\n")])
		die(OWN_FAILURE, "--agent-launcher: \"%s\" is not a command", text);
	return text;
}

static void __attribute__((noreturn)) answer_and_exit(int question)
{
	if (question == 'V')
		printf("vftr-node-agent %s\n", VFTR_VERSION);
	else
		print_usage();
	exit(fflush(stdout) ? OWN_FAILURE : 0);
}

static void parse_options(
	int argc, char **argv, struct agent *a, struct launch *l, struct command_line *c)
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
			add_assignment(c, k == 'k' ? xstrdup(optarg) : output_choice(c, optarg));
			break;
		case 's':
			c->session = optarg;
			break;
		case 'q':
			a->quiet = true;
			break;
		case OPTION_PRELOAD:
			l->preload = preload_choice(optarg);
			break;
		case OPTION_REQUIRE:
			l->require_profile = true;
			break;
		case OPTION_LENIENT:
			l->lenient = true;
			break;
		case OPTION_LAUNCHER:
			l->agent_launcher = launcher_choice(optarg);
			break;
		case OPTION_IN_STEP:
			c->in_step = true;
			break;
		case OPTION_EMBEDDED:
			a->form = FORM_EMBEDDED;
			a->quiet = true;
			break;
		case OPTION_SIBLING:
			a->form = FORM_SIBLING;
			a->quiet = true;
			break;
		case 'h':
		case 'V':
			answer_and_exit(k);
		default:
			if (parse_run(k, optarg, a, c) || parse_tcp(k, optarg, a, c))
				break;
			die(OWN_FAILURE,
				k == ':' ? "option %s needs a value"
					 : "unknown option %s; see --help",
				argv[optind - 1]);
		}
	}
}

static void parse_all(
	int argc, char **argv, struct agent *a, struct launch *l, struct command_line *c)
{
	read_environment(c);
	parse_options(argc, argv, a, l, c);
	if (optind < argc)
		l->command = argv + optind;
	c->after_dashes = optind > 1 && !strcmp(argv[optind - 1], "--");
	check_tcp(a, l, c);
	if (l->preload == PRELOAD_YES && !l->command)
		die(OWN_FAILURE, "--preload needs a COMMAND to preload into");
	if (l->require_profile && !l->command)
		die(OWN_FAILURE, "--require-profile needs a COMMAND");
	if (!c->config) {
		c->config = getenv("VFTR_CONFIG");
		if (c->config && c->config[0] && access(c->config, R_OK))
			die(OWN_FAILURE, "VFTR_CONFIG=%s: %s", c->config, strerror(errno));
	}
}

/* Whoever runs us under an agent of his own has given us its session. */
static bool is_below_another(const struct agent *a)
{
	const char *outer = getenv("VFTR_SESSION");

	return a->form == FORM_COMMAND && outer && !strcmp(outer, a->host.session);
}

/* The session is ours, or this does not return. */
static void take_session(struct agent *a)
{
	char *error = NULL;
	int taken = session_open(&a->host, &error);

	if (taken == 1 && is_below_another(a))
		die(OWN_FAILURE,
			"this command runs under vftr run already: %s (VFTR_SESSION); start it "
			"without a second one",
			error);

	/* of several ranks that start one, all but one give way in silence */
	if (taken == 1 && a->form == FORM_EMBEDDED)
		exit(0);
	if (taken == 1 && a->form != FORM_COMMAND) {
		if (company_refuse(a, error))
			peers_refuse(a);
		exit(OWN_FAILURE);
	}
	if (taken)
		die(OWN_FAILURE, "%s", error);
	if (a->form == FORM_EMBEDDED) { /* what is wrong has been said */
		detach();
		session_sign(&a->host);
	}
}

static void join_agents(struct agent *a, const struct command_line *c)
{
	char *error = NULL, *contact;

	if (peers_join(a, &contact, &error)) {
		session_close(&a->host);
		die(OWN_FAILURE, "%s", error);
	}
	if (proxy_bell() >= 0)
		agent_must_watch(a, proxy_bell(), WATCH_BELL);
	if (contact && c->print_contact)
		contact_print(contact, c->contact_file);
	a->contact = contact;
}

/*
 * Who typed this sees nothing otherwise; and who has named no session gets the processes of all
 * programs of his that name none either, wherever they run on this node.
 */
static void say_session(const struct agent *a, const struct command_line *c)
{
	const bool named = named_session(c->session);
	const bool first = !a->host.transport || !a->host.transport->rank;

	if (isatty(STDERR_FILENO) || (!named && first))
		complain("waiting for processes of session `%s'%s; Ctrl-C ends it", a->host.session,
			named ? "" : ", which is that of all of yours that name no session");
}

/* They run already, and are to know nothing of it. */
static void take_processes(struct agent *a, const struct command_line *c)
{
	char *error = NULL;

	if (attach_begin(&a->host, c->attach, !c->no_children, &error) ||
		(!a->host.n_live && !a->several)) {
		session_close(&a->host);
		die(error ? OWN_FAILURE : 1, "%s",
			error ? error : "there is no process to attach to");
	}
	free(error); /* of this node alone, and in its log */
	if (!a->quiet)
		complain("attached to %u %s%s%s; Ctrl-C ends it, and %s on", a->host.n_live,
			one_or_many(a->host.n_live, "process", "processes"),
			a->several ? " on " : "", a->several ? a->host.name : "",
			one_or_many(a->host.n_live, "it goes", "they go"));
}

/* They come by the connections that agents have over TCP. */
static void warn_of_viewers(struct agent *a)
{
	if (a->host.conf->agent_remote_viewers && !a->several)
		host_warn(&a->host, true,
			"agent.remote_viewers: this agent does not talk over TCP, so that only "
			"those look by it who are on its node");
}

static int serve_processes(struct agent *a, const struct launch *l, const struct command_line *c)
{
	bool nothing;
	int failed;

	agent_must_watch(a, a->host.listener, WATCH_LISTENER);
	if (a->form == FORM_ATTACH)
		take_processes(a, c);
	if (a->form == FORM_SIDECAR || a->form == FORM_SIBLING || (a->several && !a->step))
		join_agents(a, c);
	warn_of_viewers(a);
	company_met(a);
	if (l->command && supervised_run(a)) { /* it has been said */
		session_close(&a->host);
		return OWN_FAILURE;
	}
	if (l->command) {
		agent_must_watch(a, supervised_link(), WATCH_SUPERVISOR);
		if (supervised_end() >= 0)
			agent_must_watch(a, supervised_end(), WATCH_COMMAND);
	}
	if (a->step) {
		if (proxy_bell() >= 0)
			agent_must_watch(a, proxy_bell(), WATCH_BELL);
		if (in_step_link(a) >= 0)
			agent_must_watch(a, in_step_link(a), WATCH_STEP);
		in_step_ready(a, snapshot_so_far);
	}
	if (!l->command && !a->step && !a->quiet && a->form != FORM_ATTACH)
		say_session(a, c);
	sandbox_enter(SANDBOX_AGENT); /* what it is to start has started */
	agent_serve(a);
	in_step_writes(a);
	if (a->form == FORM_EMBEDDED)
		session_leave(&a->host);
	else
		session_close(&a->host);
	if (l->command && !a->host.n_ever && !untraced_is_off(a->host.conf))
		untraced_say(l, a->host.n_refused);
	else if (l->command && !a->host.n_ever && !a->quiet)
		untraced_say_off(a->host.conf);
	nothing = !a->host.n_ever && !a->late_profile;
	failed = agent_finish(a);
	standby_end(a);
	if (l->require_profile && a->nothing_traced && a->quiet) /* else the digest says it */
		complain("the profile is empty: neither a call nor a stack sample was recorded");
	if (l->require_profile && (nothing || a->nothing_traced))
		failed = 1;
	run_folder_link(a, failed);
	session_release(&a->host);
	if (!failed && a->expect && a->partial)
		failed = PARTIAL;
	if (a->host.transport)
		peers_leave(a, failed);
	in_step_end(a);
	return failed;
}

/* The names of this host and of its session. */
static void name_host(struct agent *a, const struct launch *l, const struct command_line *c)
{
	char host[256] = "localhost";

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	a->host.name = file_base(host[0] ? host : "localhost");
	if (!a->host.session && a->form == FORM_ATTACH)
		a->host.session = xasprintf("attach-%d", (int)getpid());
	if (!a->host.session)
		a->host.session = session_name(l, c->session);
}

/* From here on processes find this agent. */
static void start_host(struct agent *a)
{
	struct machine *machine = xmalloc(sizeof(*machine));
	struct timespec now;

	*machine = machine_read();
	a->host.machine = machine;
	a->host.start_raw_ns = clock_raw_ns();
	clock_gettime(CLOCK_REALTIME, &now);
	a->host.start_s = now.tv_sec;
	a->host.start_exact_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
	a->host.rings = ring_store_new(a->host.conf->shm_ring_size, ring_store_memory);
	clocks_init(&a->host.clocks, a->host.conf->clock_source);
	take_session(a);
	a->host.symbols = symcache_new(&a->host);
	a->host.counters = counters_new(a->host.conf);
	a->host.last_words_ms = last_words_ms(a);
}

/*
 * The number of an embedded agent's run. Those of other nodes do not know each other, but their
 * launcher's name for the job; where it has none only a single process has a number.
 */
static uint64_t run_of_job(const char *session)
{
	struct step step;

	step_read(&step);
	if (step.id[0])
		return stack_hash(step.id, strlen(step.id) + 1) | 1;
	return session && !strncmp(session, "process-", 8) ? random_word() : 0;
}

/* What no agent can be started beside. */
static void refuse_launcher(const struct agent *a, const struct launch *l)
{
	char *why = NULL;

	if (a->several && launch_is_distributed(l))
		die(OWN_FAILURE, "the launcher in COMMAND starts on several nodes: its agents find "
				 "each other without --peers");
	if (!l->agent_launcher && !a->several && !untraced_is_off(a->host.conf))
		why = launcher_refusal(l->command);
	if (why)
		die(OWN_FAILURE, "%s", why);
}

/* The agents of other nodes are told where it is. */
static void make_folder(struct agent *a, char *const *command, struct command_line *c)
{
	char *error = NULL;

	if (run_folder_make(a, command, c->folder, in_step_common(a), &error))
		die(OWN_FAILURE, "%s", error);
	add_assignment(c, xasprintf("output_directory=%s", a->host.output_directory));
}

static const char *start_of_run(struct agent *a, char *const *command, const struct command_line *c)
{
	run_start_begin(a, command, c->started);
	return run_start_text(a);
}

/* What names the folder: on all nodes of a step the same. */
static char *const *command_of(const struct launch *l, const struct command_line *c)
{
	char **same;

	if (!c->attach)
		return l->command;
	if (!c->in_step)
		return attach_words(c->attach);
	same = xcalloc(2, sizeof(*same));
	same[0] = xstrdup("attach");
	return same;
}

/* Started by a launcher, beside other agents. */
static bool meets_others(const struct agent *a)
{
	return a->several || (a->form != FORM_EMBEDDED && a->form != FORM_ATTACH && peer_wanted());
}

/* What was asked for is settled then: from here on it is the agent that speaks. */
static void settle_folder(struct agent *a, char *const *command, struct command_line *c)
{
	if (result_layout(a->host.conf) == LAYOUT_RUN && a->form != FORM_SIBLING)
		make_folder(a, command, c);
	program_name = PROGRAM;
}

int main(int argc, char **argv)
{
	/* static: what is in them to the end is no leak */
	static struct agent a = {.host = {.observers = agent_observers,
					 .keep_older = older_results_of_samples,
					 .keep_end = older_results_end,
					 .results_lock = -1,
					 .lock = -1,
					 .listener = -1}};
	static struct launch l;
	static struct command_line c = {.tcp.me = -1};
	char *const *command;

	program_name = PROGRAM;
	launch_remember();
	signal(SIGXFSZ, SIG_IGN); /* a full file is an error like others */
	parse_all(argc, argv, &a, &l, &c);
	if (!a.host.run)
		a.host.run = a.form == FORM_EMBEDDED ? run_of_job(c.session) : random_word();
	a.host.by_process = a.form == FORM_EMBEDDED;
	if (a.form == FORM_EMBEDDED) /* nothing of the process that started us stays open */
		close_range(3, ~0u, 0);
	c.tcp.any_session = !named_session(c.session);
	if (a.several)
		proxy_use_tcp(&c.tcp);
	if (!l.command && meets_others(&a))
		peers_shield();
	read_configuration(&a, &l, c.config && c.config[0] ? c.config : NULL);
	set_keys(&a, &c);
	command = command_of(&l, &c); /* in a step the agent has none */
	check_output(&a, &l, settle_layout(&a, &l, &c));
	l.program = own_path(argv[0]);
	l.started = start_of_run(&a, l.command, &c);
	if (l.command)
		launch_settle_preload(&l, a.host.conf);
	if (c.in_step || (l.command && !a.several && in_step_wanted(&l))) {
		in_step_start(&a, &l, c.session);
		if (a.several)
			peers_shield();
	}
	if (!l.agent_launcher)
		l.agent_launcher = a.host.conf->agent_launcher;
	if (l.command)
		refuse_launcher(&a, &l);
	settle_folder(&a, command, &c);
	if (l.command && launch_is_distributed(&l))
		return launch_distributed(&a, &l, c.config, c.set, c.n_set, salvage_summary);
	if (l.command)
		a.form = FORM_COMMAND;
	else if (a.form != FORM_EMBEDDED && a.form != FORM_ATTACH)
		company_expect(&a);
	name_host(&a, &l, &c);
	if (l.command)
		launch_supervised(&a, &l, NULL, NULL, NULL);
	if (l.command && a.several)
		peers_shield();
	start_host(&a);
	raise_file_limit();
	catch_signals(&a);
	affinity_init(&a);
	return serve_processes(&a, &l, &c);
}
