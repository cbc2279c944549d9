/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of subcommands, and arguments that `vftr dump` and `vftr export` have in common:
 * ranks and times. What is wrong with one is said in one sentence that has it.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "conf/conf.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/dump/text.h"

static bool take_time(const char *text, int64_t *ns)
{
	double seconds;

	if (conf_time(text, &seconds) && fabs(seconds * 1e9) < 0x1p62) {
		*ns = llround(seconds * 1e9);
		return true;
	}
	complain("`%s' is no time; write 2.5, 300ms, 40us, 7ns or 2min", text);
	return false;
}

#define NUMBER_MOST 1000000000u
#define NUMBERED    256 /* options without a letter */

static bool has_argument(const struct cmd_option *o)
{
	return o->text || o->time || o->take;
}

/* False: the command ends with *status. */
static bool take_option(const struct cmd_option *o, int *status)
{
	*status = o->say ? 0 : 2;
	if (o->say)
		o->say();
	if (o->text)
		*o->text = optarg;
	if (o->flag)
		*o->flag = true;
	if (o->also)
		*o->also = true;
	return !o->say && (!o->time || take_time(optarg, o->time)) &&
	       (!o->take || o->take(optarg, o->to));
}

/* What getopt_long() takes of the n options, and --help. */
static void list_options(const struct cmd_option *options, int n, const char *usage,
	struct option *all, char *letters)
{
	for (int i = 0; i < n; i++) {
		const struct cmd_option *o = &options[i];

		all[i] = (struct option){o->name, has_argument(o) ? required_argument : no_argument,
			NULL, NUMBERED + i};
		if (o->letter)
			letters += sprintf(letters, "%c%s", o->letter, has_argument(o) ? ":" : "");
	}
	if (usage)
		all[n] = (struct option){"help", no_argument, NULL, 'h'};
	strcpy(letters, usage ? "h" : "");
}

/* As cmd_options(); all and letters: list_options(). */
static int take_options(int argc, char **argv, const struct cmd_option *options, int n,
	const char *usage, const struct option *all, const char *letters)
{
	int option, status;

	optind = 1;
	while ((option = getopt_long(argc, argv, letters, all, NULL)) != -1) {
		if (option == '?')
			return 2;
		if (usage && option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		for (int i = 0; i < n; i++)
			if ((option == NUMBERED + i || option == options[i].letter) &&
				!take_option(&options[i], &status))
				return status;
	}
	return -1;
}

int cmd_options(int argc, char **argv, const struct cmd_option *options, const char *usage)
{
	struct option *all;
	char *letters;
	int n = 0, status;

	while (options[n].name)
		n++;
	all = xcalloc((size_t)n + 2, sizeof(*all));
	letters = xcalloc(2 * (size_t)n + 2, 1);
	list_options(options, n, usage, all, letters);
	status = take_options(argc, argv, options, n, usage, all, letters);
	free(letters);
	free(all);
	return status;
}

static bool is_set(const struct cmd_option *o, const char *name)
{
	while (o->name && strcmp(o->name, name))
		o++;
	return o->flag && *o->flag;
}

int cmd_options_for(int argc, char **argv, const struct cmd_option *options, const char *usage,
	const char *wanted)
{
	const char *command = argv[0] + strlen("vftr: ");
	const int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (optind == argc)
		complain("%s: name %s; see vftr %s --help", command, wanted, command);
	else if (is_set(options, "csv") && is_set(options, "json"))
		complain("%s: --csv or --json, not both", command);
	else
		return -1;
	return 2;
}

bool cmd_round(const char *text, void *number)
{
	return vfd_round_number(text, number);
}

bool cmd_number(const char *text, void *number)
{
	char *end;
	const unsigned long long n = strtoull(text, &end, 10);

	if (*text >= '0' && *text <= '9' && !*end && n <= NUMBER_MOST) {
		*(int64_t *)number = (int64_t)n;
		return true;
	}
	complain("`%s' is no number from 0 to %u", text, NUMBER_MOST);
	return false;
}

bool cmd_ranks(const char *list)
{
	char *why = NULL;

	if (!list || !rank_list_check(list, false, &why))
		return true;
	complain("--ranks %s: %s", list, why ? why : "is no list of ranks");
	free(why);
	return false;
}

bool cmd_span(const char *command, const struct vfd_span *s, uint64_t round)
{
	if (round && (s->from_set || s->to_set))
		complain("%s: --round says from when to when; not with --from or --to", command);
	else if (s->from_set && s->to_set && s->from >= s->to)
		complain("--from is not before --to: nothing lies between them");
	else
		return true;
	return false;
}

char *cmd_file_in(const char *argument, enum result_kind kind, const char *names)
{
	struct stat st;
	char *found;
	size_t n;

	if (stat(argument, &st) || !S_ISDIR(st.st_mode))
		return xstrdup(argument);
	found = result_find(argument, kind, &n);
	if (!found && n)
		complain("%s: %zu files %s; name one", argument, n, names);
	else if (!found)
		complain("%s: no such file in it: %s", argument, names);
	return found;
}
