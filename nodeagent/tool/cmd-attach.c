/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr attach': looks at processes that run already, by an agent of its own. */
#include "nodeagent/tool/cmd.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/agent/step/step.h"
#include "nodeagent/attach/choice.h"
#include "nodeagent/attach/refusal.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/agent-words.h"

static const char usage[] =
	"usage: vftr attach [OPTION...] PID...\n"
	"       vftr attach [OPTION...] --name PROGRAM | --job JOBID | --user\n"
	"\n"
	"Shows where processes that run already spend their CPU time, by stack samples of them\n"
	"and of children that they start. They are not stopped, and need not be compiled or\n"
	"linked for it. It ends when they have ended, at Ctrl-C or after --seconds; the results\n"
	"are in a new folder, vftr-NAME-DATE-TIME, as of `vftr run'. Samples do not tell\n"
	"numbers of calls, messages and waits.\n"
	"\n"
	"  -n, --name PROGRAM   look at all your processes of this program\n"
	"  -j, --job JOBID      look at those of this Slurm job on this node; as one task of each\n"
	"                       node it is one profile of all: see vftr-attach(1)\n"
	"  -u, --user           look at all your processes\n"
	"  -s, --seconds TIME   look for this time, such as 30 or 5min\n"
	"      --no-children    leave out children that they have or will start\n"
	"  -o, --output DIR     write the results into this folder; %p is the program, %j the\n"
	"                       batch job, %d date and time, %h the host\n"
	"  -c, --config FILE    configuration file; default: $VFTR_CONFIG\n"
	"  -k, --set KEY=VALUE  change one key of the configuration; profile.sample=HZ is the\n"
	"                       number of samples a second of CPU time, 20 by default\n"
	"      --tag KEY=VALUE  write this into the results; may be repeated\n"
	"  -q, --quiet          print nothing but what is wrong\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done; 1 no process that can be looked at; 2 wrong usage; 125 the agent\n"
	"could not be started, or cannot write.\n";

enum { NO_CHILDREN = 256, TAG };

static const struct option options[] = {{"name", required_argument, NULL, 'n'},
	{"job", required_argument, NULL, 'j'}, {"user", no_argument, NULL, 'u'},
	{"seconds", required_argument, NULL, 's'}, {"no-children", no_argument, NULL, NO_CHILDREN},
	{"output", required_argument, NULL, 'o'}, {"config", required_argument, NULL, 'c'},
	{"set", required_argument, NULL, 'k'}, {"tag", required_argument, NULL, TAG},
	{"quiet", no_argument, NULL, 'q'}, {"help", no_argument, NULL, 'h'}, {0}};

/* ---- which processes ---------------------------------------------------------------------- */

/* One that the user has named: what is wrong with it is said. */
static void choose_named(struct attach_choice *c, int pid)
{
	char *why = attach_refusal(pid, NULL);

	if (why)
		complain("%s", why);
	else
		attach_choose(c, pid);
	free(why);
}

/* False after a message. */
static bool choose_pids(struct attach_choice *c, char **words)
{
	for (; *words; words++) {
		char *end;
		const long pid = strtol(*words, &end, 10);

		if (end == *words || *end || pid <= 0 || pid > INT_MAX) {
			complain(
				"`%s' is no process number; --name takes a program's name", *words);
			return false;
		}
		choose_named(c, (int)pid);
	}
	return true;
}

/* ---- the agent ---------------------------------------------------------------------------- */

/* False after a message. */
static bool take_option(struct agent_words *w, struct attach_choice *c, int k)
{
	double s;

	switch (k) {
	case 'n':
		c->name = optarg;
		break;
	case 'j':
		c->job = optarg;
		break;
	case 'u':
		c->user = true;
		break;
	case 's':
		if (!conf_time(optarg, &s) || s < 0.001 || s > 1e9) {
			complain("--seconds `%s': not a time, such as 30 or 5min", optarg);
			return false;
		}
		agent_words_add(w, xasprintf("--within=%s", optarg));
		break;
	case NO_CHILDREN:
		agent_words_add(w, xstrdup("--no-children"));
		break;
	case 'q':
		agent_words_add(w, xstrdup("--quiet"));
		break;
	case TAG:
		agent_words_add(w, xasprintf("--tag=%s", optarg));
		break;
	case 'o':
	case 'c':
	case 'k':
		agent_words_add(w, xasprintf("-%c%s", k, optarg));
		break;
	default:
		return false;
	}
	return true;
}

/* Of all processes of a user many cannot be taken, as a matter of course. */
static void say_refused(const struct attach_choice *c)
{
	for (size_t i = 0; !c->user && i < c->n_refused && i < ATTACH_REASONS; i++)
		complain("%s", c->refused[i]);
	if (!c->user && c->n_refused > ATTACH_REASONS)
		complain("%zu more processes cannot be looked at", c->n_refused - ATTACH_REASONS);
}

static void say_nothing(const struct attach_choice *c, bool named)
{
	if (c->name)
		complain("no process of yours that can be looked at runs %s", c->name);
	else if (c->job)
		complain("no process of yours that can be looked at is of the Slurm job %s on "
			 "this node",
			c->job);
	else if (!named)
		complain("no process of yours can be looked at");
}

int cmd_attach(int argc, char **argv)
{
	struct attach_choice c = {0};
	struct agent_words w = {0};
	bool named, in_step;
	int k;

	agent_words_begin(&w, "attach");
	agent_words_add_key(&w, "output.layout=", "run");
	while ((k = getopt_long(argc, argv, "n:j:us:o:c:k:qh", options, NULL)) != -1) {
		if (k == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take_option(&w, &c, k))
			return 2;
	}
	named = optind < argc;
	if (named + (c.name != NULL) + (c.job != NULL) + c.user != 1) {
		complain("say which processes: one of PID..., --name, --job or --user");
		return 2;
	}
	if (!choose_pids(&c, argv + optind))
		return 2;
	in_step = !named && step_has_others();
	if (!named)
		attach_choose_all(&c);
	if (!c.n && !in_step)
		say_nothing(&c, named);
	say_refused(&c);
	if (!c.n && !in_step)
		return 1;
	if (in_step)
		agent_words_add(&w, xstrdup("--in-step"));
	agent_words_add(&w, xasprintf("--attach=%s", c.n ? c.pids : ""));
	return agent_become(&w, "attach");
}
