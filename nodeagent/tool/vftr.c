/* SPDX-License-Identifier: BSD-3-Clause */
/* The tool `vftr`: a table of subcommands, each in a file cmd-NAME.c. */
#include <stdio.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/base/util.h"

#define EDITS_MOST 3u /* so many make another word, and in a short one fewer */

static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);

/* What is left of its rights before it reads its first byte. */
enum rights {
	ALL,   /* it runs other programs, or reads nothing of others */
	LOOKS, /* at running agents, too */
	READS,
};

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	enum rights rights;
	const char *text; /* NULL: not listed */
} commands[] = {
	{"attach", cmd_attach, ALL, "look at processes that run already"},
	{"collate", cmd_collate, READS, "merge the node profiles of a directory into the summary"},
	{"compress", cmd_compress, READS, "make sampling files small"},
	{"config", cmd_config, READS,
		"print the default configuration, check a file, explain keys"},
	{"critical-path", cmd_critical_path, READS, "show what decided how long a run took"},
	{"diff", cmd_diff, READS, "compare two profiles by call path"},
	{"doctor", cmd_doctor, ALL, "say whether a program will be traced, and if not, why not"},
	{"dump", cmd_dump, READS, "print what is in a sampling file"},
	{"efficiency", cmd_efficiency, READS,
		"show the parallel efficiency of runs, and its factors"},
	{"export", cmd_export, READS, "turn a run into what other viewers open"},
	{"findings", cmd_findings, READS, "say what is worth mending in a run"},
	{"flags", cmd_flags, ALL, "print what to add when compiling and linking"},
	{"help", cmd_help, ALL, "explain a subcommand"},
	{"histogram", cmd_histogram, READS, "show how large the messages were"},
	{"iterations", cmd_iterations, READS,
		"show how long the iterations of the main loop lasted"},
	{"models", cmd_models, READS, "show how functions grow with the number of ranks"},
	{"open", cmd_open, ALL, "open the time line of a run in Perfetto's page or a viewer"},
	{"record", cmd_record, ALL, NULL},
	{"report", cmd_report, READS, "write what is known of a run to one HTML file"},
	{"run", cmd_run, ALL, "run a command traced"},
	{"show", cmd_show, READS, "show the functions or call paths that took the most time"},
	{"stat", cmd_stat, ALL, NULL},
	{"top", cmd_top, LOOKS, "show what a job does while it runs"},
	{"tree", cmd_tree, READS, "show the call tree with its times"},
	{"version", cmd_version, ALL, NULL},
	{"waits", cmd_waits, READS, "show what ranks waited for each other"},
	{"where", cmd_where, LOOKS, "show where all threads of a job are now"},
};

static void print_usage(FILE *f)
{
	fprintf(f, "usage: vftr run -- ./a.out   run a program traced\n"
		   "       vftr SUBCOMMAND [ARGUMENTS]\n\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].text)
			fprintf(f, "  %-13s %s\n", commands[i].name, commands[i].text);
	fprintf(f, "\n`vftr help SUBCOMMAND' tells more; `vftr --version' prints the version.\n");
}

static const char *nearest(const char *name)
{
	const char *found = NULL;
	size_t best = strlen(name) / 2 + 1;

	for (size_t i = 0; strlen(name) > 2 && i < ARRAY_SIZE(commands); i++)
		if (!strncmp(name, commands[i].name, strlen(name)))
			return commands[i].name;
	best = MIN(best, EDITS_MOST);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *known = commands[i].name;
		size_t d = conf_distance(name, strlen(name), known, strlen(known), false);

		if (d < best) {
			best = d;
			found = known;
		}
	}
	return found;
}

static int run_subcommand(int argc, char **argv)
{
	static char title[64];
	const char *guess;

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[0], commands[i].name))
			continue;
		snprintf(title, sizeof(title), "vftr: %s", argv[0]);
		argv[0] = title; /* what getopt's own messages begin with */
		if (commands[i].rights != ALL)
			cmd_reads_foreign_files(commands[i].rights == LOOKS);
		return commands[i].run(argc, argv);
	}
	guess = nearest(argv[0]);
	if (guess)
		complain("unknown subcommand `%s'; did you mean `%s'?", argv[0], guess);
	else
		complain("unknown subcommand `%s'; `vftr help' lists them", argv[0]);
	return 2;
}

static int cmd_version(int argc, char **argv)
{
	printf("vftr %s\n", VFTR_VERSION);
	return 0;
}

static int cmd_help(int argc, char **argv)
{
	static char option[] = "--help";
	char *passed[] = {NULL, option, NULL};

	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "help")) {
		print_usage(stdout);
		return 0;
	}
	passed[0] = argv[1];
	return run_subcommand(2, passed);
}

static int dispatch(int argc, char **argv)
{
	const char *name = argc ? basename(argv[0]) : "vftr";
	int status;

	if (vftrace_link(name, argc, argv, &status))
		return status;
	if (argc < 2) {
		print_usage(stderr);
		return 2;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "-v"))
		return cmd_version(1, argv);
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_usage(stdout);
		return 0;
	}
	if (argv[1][0] == '-') {
		complain("unknown option `%s'; `vftr --help' tells more", argv[1]);
		return 2;
	}
	return run_subcommand(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int rc = dispatch(argc, argv);

	/* a full disk must not look like success */
	if (fflush(stdout) || ferror(stdout)) {
		complain("cannot write to standard output: %m");
		return rc ? rc : 1;
	}
	return rc;
}
