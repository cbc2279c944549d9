/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Vftrace's own tools, as links to `vftr`: their command lines, so that scripts go
 * on working. What they print comes from the subcommands.
 */
#include "nodeagent/tool/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/trace/dump/vftrace.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/dump/text.h"

static const char check_usage[] = "Usage: vftrace_check_config <config_file>\n"
				  "Today: vftr config check FILE\n";
static const char default_usage[] = "Usage: vftrace_generate_default_config\n"
				    "Today: vftr config default\n";
static const char diff_usage[] = "Usage: vftrace_diff_profiles <logfile 1> <logfile 2>\n"
				 "Today: vftr diff A B\n";
static const char dump_usage[] =
	"Usage: vftrace_vfd_dump [OPTION...] VFD-FILE\n"
	"      --output=WHERE     stdout (default), stderr, or a file\n"
	"      --only_header      nothing but the header\n"
	"      --skip_samples     no samples\n"
	"      --show_threadtree  the tree of threads (always shown of files of vftr)\n"
	"  -?, --help             this text\n"
	"      --usage            a short one\n"
	"  -V, --version          print the version\n"
	"Today: vftr dump --peers FILE\n";

/* Runs a subcommand with up to two words before args[0 .. n). */
static int run(int (*command)(int argc, char **argv), const char *name, const char *word, int n,
	char **args)
{
	char **argv = xcalloc((size_t)n + 3, sizeof(*argv));
	char *first = xstrdup(name), *second = xstrdup(word);
	int argc = 0, status;

	argv[argc++] = first;
	argv[argc++] = second;
	for (int i = 0; i < n; i++)
		argv[argc++] = args[i];
	status = command(argc, argv);
	free(first);
	free(second);
	free(argv);
	return status;
}

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "-?"))
			return true;
	return false;
}

/* 0 to go on, else the exit status plus 1: help was wanted, or arguments are wrong. */
static int arguments(int argc, char **argv, int wanted, const char *usage)
{
	if (wants_help(argc, argv)) {
		fputs(usage, stdout);
		return 1;
	}
	if (argc == wanted + 1)
		return 0;
	fputs(usage, stderr);
	return 2;
}

static int check_config(int argc, char **argv)
{
	int done = arguments(argc, argv, 1, check_usage);

	return done ? done - 1 : run(cmd_config, "config", "check", 1, argv + 1);
}

static int generate_default_config(int argc, char **argv)
{
	int done = arguments(argc, argv, 0, default_usage);

	return done ? done - 1 : run(cmd_config, "config", "default", 0, NULL);
}

static int diff_profiles(int argc, char **argv)
{
	int done = arguments(argc, argv, 2, diff_usage);

	return done ? done - 1 : run(cmd_diff, "diff", "--vftrace", 2, argv + 1);
}

/* ---- vftrace_vfd_dump -------------------------------------------------------------- */

/* A file of ours; 1 and a complaint if it is none, or not whole. */
static int dump_ours(const char *path, const struct vfd_dump *d, FILE *out)
{
	const char *why;
	size_t damaged;
	char *error;
	struct vfd_file *f = vfd_open(path, &error);

	if (!f) {
		complain("%s", error);
		free(error);
		return 1;
	}
	vfd_dump_text(f, d, out);
	vfd_damage(f, &damaged);
	why = damaged ? "damaged" : vfd_facts(f)->closed ? NULL : "cut short, or being written";
	vfd_close(f);
	if (!why)
		return 0;
	fflush(out);
	complain("%s: it is %s; the rest is there", path, why);
	return 1;
}

static int dump_classic(const char *path, FILE *in, const struct classic_dump *d, FILE *out)
{
	char *error;

	if (classic_dump(in, d, out, &error))
		return 0;
	fflush(out);
	complain("%s: %s", path, error);
	free(error);
	return 1;
}

static int dump(const char *path, const char *output, const struct vfd_dump *ours,
	const struct classic_dump *theirs)
{
	FILE *in = fopen(path, "re"), *out = stdout;
	struct writing *writing = NULL;
	int status, error = 0;

	if (!strcmp(output, "stderr"))
		out = stderr;
	else if (strcmp(output, "stdout"))
		error = in ? write_begin(&out, &writing, output) : -errno;
	if (error) {
		complain("%s: %s", in ? output : path, strerror(-error));
		if (in)
			fclose(in);
		return 1;
	}
	status = in && classic_is(in) ? dump_classic(path, in, theirs, out)
				      : dump_ours(path, ours, out);
	if (in)
		fclose(in);
	error = writing ? write_end(out, writing) : 0;
	if (error) {
		complain("%s: %s", output, strerror(-error));
		status = 1;
	}
	return status;
}

static int vfd_dump_link(int argc, char **argv)
{
	static const struct option options[] = {
		{"output", required_argument, NULL, 'o'},
		{"only_header", no_argument, NULL, 'O'},
		{"skip_samples", no_argument, NULL, 'S'},
		{"show_threadtree", no_argument, NULL, 'T'},
		{"help", no_argument, NULL, 'h'},
		{"usage", no_argument, NULL, 'u'},
		{"version", no_argument, NULL, 'V'},
		{0},
	};
	const char *output = "stdout";
	struct vfd_dump ours = {.peers = true};
	struct classic_dump theirs = {0};
	int option;

	if (argc == 2 && !strcmp(argv[1], "-?")) {
		fputs(dump_usage, stdout);
		return 0;
	}
	optind = 1;
	while ((option = getopt_long(argc, argv, "V", options, NULL)) != -1) {
		switch (option) {
		case 'o':
			output = optarg;
			break;
		case 'O':
			ours.ranks = ""; /* of no rank */
			theirs.only_header = true;
			break;
		case 'S':
			ours.brief = theirs.skip_samples = true;
			break;
		case 'T':
			theirs.threadtree = true;
			break;
		case 'h':
			fputs(dump_usage, stdout);
			return 0;
		case 'u':
			fputs("Usage: vftrace_vfd_dump [-?V] [--output=WHERE] [--only_header]\n"
			      "            [--skip_samples] [--show_threadtree] VFD-FILE\n",
				stdout);
			return 0;
		case 'V':
			printf("vftrace_vfd_dump (vftr " VFTR_VERSION ")\n");
			return 0;
		default:
			return 1;
		}
	}
	if (optind + 1 != argc) {
		fputs(dump_usage, stderr);
		return 1;
	}
	return dump(argv[optind], output, &ours, &theirs);
}

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} links[] = {
	{"vftrace_check_config", check_config},
	{"vftrace_diff_profiles", diff_profiles},
	{"vftrace_generate_default_config", generate_default_config},
	{"vftrace_vfd_dump", vfd_dump_link},
};

bool vftrace_link(const char *name, int argc, char **argv, int *status)
{
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		if (strcmp(name, links[i].name))
			continue;
		program_name = links[i].name;
		*status = links[i].run(argc, argv);
		return true;
	}
	return false;
}
