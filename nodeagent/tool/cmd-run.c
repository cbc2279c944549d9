/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr run -- COMMAND': the everyday names of what vftr-node-agent does. */
#include "nodeagent/tool/cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/agent-words.h"

#define PROGRAMS "programs"
#define NUMBERED 256 /* options without a letter */
#define KEYS_MAX 2

static const char usage_head[] =
	"usage: vftr run [OPTION...] -- COMMAND [ARGUMENTS]\n"
	"\n"
	"Runs COMMAND traced; its input, output, exit status and signals stay as they are.\n"
	"COMMAND is a program, a script, an interpreter with its script, or mpirun, mpiexec\n"
	"or srun with what they start. The results are in a new folder,\n"
	"vftr-NAME-DATE-TIME; the link vftr-NAME-last leads to it.\n"
	"\n";
static const char usage_tail[] =
	"\n"
	"Exit status: COMMAND's, 128+n if signal n ended it; 127 if COMMAND does not exist,\n"
	"126 if it cannot be executed, 125 if it was not run for another reason.\n";

/*
 * What becomes of an option. keys: --set with them, up to NULL; a last one that ends with '='
 * takes the argument. Without keys the agent has an option of that name.
 */
static const struct run_option {
	const char *name;
	char letter; /* or 0 */
	int has_argument;
	const char *argument, *keys[KEYS_MAX + 1], *text;
} run_options[] = {
	{"trace", 0, no_argument, NULL, {"sampling.active=true", "sampling.sample_interval=0"},
		"record each call with its time, for vftr export"},
	{"by-function", 0, no_argument, NULL, {"name_grouped_profile_table.show_table=true"},
		"add a table of functions, summed over their callers"},
	{"rank", 0, required_argument, "LIST", {"logfile_for_ranks="},
		"write a log of each of these ranks: 0,2-5 or all"},
	{"only", 'F', required_argument, "NAME", {"filter.only="},
		"record only this function and what it calls; a shell\n"
		"                       pattern, or file:NAME for those of a source file;\n"
		"                       may be repeated"},
	{"not", 'N', required_argument, "NAME", {"filter.not="},
		"do not record this function and those that it calls"},
	{"depth", 0, required_argument, "N", {"filter.depth="},
		"record functions down to this depth"},
	{"time-filter", 0, required_argument, "TIME", {"filter.time="},
		"leave calls shorter than this, such as 10us, out of\n"
		"                       the time line"},
	{"preload", 0, optional_argument, "[=auto|yes|no]", {NULL},
		"preload the tracing library; auto, the default, does\n"
		"                       it if the program is not linked with it"},
	{PROGRAMS, 0, required_argument, "LIST", {NULL},
		"trace only programs with these names, such as\n"
		"                       hydro,test_*, and not make or what it runs"},
	{"output", 'o', required_argument, "DIR", {NULL},
		"write the results into this folder; %p is the\n"
		"                       program, %j the batch job, %d date and time, %h the\n"
		"                       host"},
	{"require-profile", 0, no_argument, NULL, {NULL},
		"end with 125 if COMMAND ends with 0 and there is no\n"
		"                       profile"},
	{"config", 'c', required_argument, "FILE", {NULL},
		"configuration file; default: $VFTR_CONFIG"},
	{"set", 'k', required_argument, "KEY=VALUE", {NULL}, "change one key of the configuration"},
	{"tag", 0, required_argument, "KEY=VALUE", {NULL},
		"write this into the results; may be repeated"},
	{"lenient", 0, no_argument, NULL, {NULL}, "warn of unknown keys in that file, and go on"},
	{"session", 's', required_argument, "NAME", {NULL},
		"the name under which processes find the agent"},
	{"agent-launcher", 0, required_argument, "CMD", {NULL},
		"start the agents of several nodes with CMD"},
	{"in-step", 0, no_argument, NULL, {NULL},
		"for a launcher that starts `vftr run' in place of each\n"
		"                       rank, as in srun vftr run"},
	{"quiet", 'q', no_argument, NULL, {NULL},
		"print nothing at the end of a run that went well"},
	{"help", 'h', no_argument, NULL, {NULL}, "this text"},
};

static void print_usage(void)
{
	fputs(usage_head, stdout);
	EACH(const struct run_option, o, run_options, ARRAY_SIZE(run_options)) {
		char left[64], letter[8] = "    ";

		if (o->letter)
			snprintf(letter, sizeof(letter), "-%c, ", o->letter);
		snprintf(left, sizeof(left), "%s--%s%s%s", letter, o->name,
			o->has_argument == required_argument ? " " : "",
			o->argument ? o->argument : "");
		if (strlen(left) > 20)
			printf("  %s\n%23s%s\n", left, "", o->text);
		else
			printf("  %-20s %s\n", left, o->text);
	}
	fputs(usage_tail, stdout);
}

/* False after a message, in the words of the option and not of its key. */
static bool is_good(const struct run_option *o, const char *value)
{
	struct conf *c = conf_default();
	char *key = xasprintf("%.*s", (int)strcspn(o->keys[0], "="), o->keys[0]), *error = NULL;
	const bool good = !c || !conf_set(c, key, value, &error);
	const size_t n = strlen(key);

	if (!good)
		complain("run: --%s%s", o->name,
			error && !strncmp(error, key, n) ? error + n : ": out of memory");
	free(error);
	free(key);
	conf_free(c);
	return good;
}

/* keys: those of our options, which come before the user's, so that his win. */
struct run_words {
	struct agent_words keys, others;
	char *only, *not ; /* patterns so far, or NULL */
	bool quiet;
};

/* The list that an option adds patterns to, or NULL. */
static char **pattern_list(struct run_words *w, const struct run_option *o)
{
	return o->letter == 'F' ? &w->only : o->letter == 'N' ? &w->not : NULL;
}

/* The argument becomes the list with all of the option's patterns. False after a message. */
static bool add_pattern(char **list, const struct run_option *o)
{
	char *longer = *optarg ? conf_add_pattern(*list ? *list : "", optarg) : NULL;

	if (!longer)
		complain(
			"run: --%s: %s", o->name, *optarg ? "out of memory" : "\"\" names nothing");
	free(*list);
	*list = optarg = longer;
	return longer;
}

static bool add_option(struct run_words *w, const struct run_option *o)
{
	char **list = pattern_list(w, o);
	const char *value;

	if (list && !add_pattern(list, o))
		return false;
	if (!strcmp(o->name, PROGRAMS)) /* it is for the processes, which inherit it */
		return !setenv("VFTR_PROGRAMS", optarg, 1);
	w->quiet |= o->letter == 'q';
	value = optarg ? optarg : "";
	if (o->keys[0] && o->has_argument && !is_good(o, value))
		return false;
	for (size_t i = 0; i < KEYS_MAX && o->keys[i]; i++)
		agent_words_add_key(&w->keys, o->keys[i], o->has_argument ? value : "");
	if (!o->keys[0])
		agent_words_add(
			&w->others, xasprintf("--%s%s%s", o->name, optarg ? "=" : "", value));
	return true;
}

/* -1, or an exit status; optind is then that of COMMAND. */
static int read_options(int argc, char **argv, struct run_words *w)
{
	struct option all[ARRAY_SIZE(run_options) + 1] = {{0}};
	char letters[2 * ARRAY_SIZE(run_options) + 2] = "+", *end = letters + 1;
	int k, i;

	for (i = 0; i < (int)ARRAY_SIZE(run_options); i++) {
		const struct run_option *o = &run_options[i];

		all[i] = (struct option){o->name, o->has_argument, NULL, NUMBERED + i};
		if (o->letter)
			*end++ = o->letter;
		if (o->letter && o->has_argument)
			*end++ = ':';
	}
	while ((k = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		for (i = 0; k < NUMBERED && i < (int)ARRAY_SIZE(run_options); i++)
			if (run_options[i].letter == k)
				k = NUMBERED + i;
		if (k < NUMBERED)
			return OWN_FAILURE;
		if (run_options[k - NUMBERED].letter == 'h') {
			print_usage();
			return 0;
		}
		if (!add_option(w, &run_options[k - NUMBERED]))
			return OWN_FAILURE;
	}
	return -1;
}

/* alias: what the command was called by, as a sentence; NULL: run. */
static int run_as(int argc, char **argv, const char *alias)
{
	struct run_words w = {0};
	struct agent_words *const keys = &w.keys;
	int status;

	agent_words_begin(keys, "run");
	agent_words_add_key(keys, "output.layout=", "run");
	agent_words_add(keys, xstrdup("--preload=auto"));
	status = read_options(argc, argv, &w);
	if (status >= 0)
		return status;
	if (alias && !w.quiet)
		complain("%s", alias);
	if (optind == argc) {
		complain("run: say what to run: vftr run [OPTION...] -- COMMAND [ARGUMENTS]");
		return OWN_FAILURE;
	}
	for (size_t i = 0; i < w.others.n; i++)
		agent_words_add(keys, w.others.v[i]);
	agent_words_add(keys, xstrdup("--"));
	for (int i = optind; i < argc; i++)
		agent_words_add(keys, argv[i]);
	return agent_become(keys, "run");
}

int cmd_run(int argc, char **argv)
{
	return run_as(argc, argv, NULL);
}

/* ---- names that other tools have for it ------------------------------------------------ */

int cmd_stat(int argc, char **argv)
{
	return run_as(argc, argv, "stat is another name for `vftr run'");
}

int cmd_record(int argc, char **argv)
{
	static char trace[] = "--trace";
	struct agent_words w = {0};

	agent_words_add(&w, argv[0]);
	agent_words_add(&w, trace);
	for (int i = 1; i < argc; i++)
		agent_words_add(&w, argv[i]);
	return run_as((int)w.n, w.v, "record is another name for `vftr run --trace'");
}
