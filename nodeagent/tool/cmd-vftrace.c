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

static bool wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h") || !strcmp(argv[i], "-?"))
			return true;
	return false;
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

static int dump_file(const char *path, const char *output, const struct vfd_dump *ours,
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

static void dump_help(void)
{
	fputs(dump_usage, stdout);
}

static void dump_short_help(void)
{
	fputs("Usage: vftrace_vfd_dump [-?V] [--output=WHERE] [--only_header]\n"
	      "            [--skip_samples] [--show_threadtree] VFD-FILE\n",
		stdout);
}

static void dump_version(void)
{
	printf("vftrace_vfd_dump (vftr " VFTR_VERSION ")\n");
}

static int vfd_dump_link(int argc, char **argv)
{
	const char *output = "stdout";
	struct vfd_dump ours = {.peers = true};
	struct classic_dump theirs = {0};
	const struct cmd_option options[] = {
		{"output", .text = &output},
		{"only_header", .flag = &theirs.only_header},
		{"skip_samples", .flag = &ours.brief, .also = &theirs.skip_samples},
		{"show_threadtree", .flag = &theirs.threadtree},
		{"help", .say = dump_help},
		{"usage", .say = dump_short_help},
		{"version", 'V', .say = dump_version},
		{0},
	};
	int status;

	if (argc == 2 && !strcmp(argv[1], "-?")) {
		dump_help();
		return 0;
	}
	status = cmd_options(argc, argv, options, NULL);
	if (status >= 0)
		return status > 0;
	if (theirs.only_header)
		ours.ranks = ""; /* of no rank */
	if (optind + 1 != argc) {
		fputs(dump_usage, stderr);
		return 1;
	}
	return dump_file(argv[optind], output, &ours, &theirs);
}

static const struct vftrace_tool {
	const char *name, *usage;
	int wanted; /* arguments */
	int (*command)(int argc, char **argv);
	const char *words[3]; /* before the arguments; NULL: the command reads them all itself */
} tools[] = {
	{"vftrace_check_config",
		"Usage: vftrace_check_config <config_file>\n"
		"Today: vftr config check FILE\n",
		1, cmd_config, {"config", "check", "--lenient"}},
	{"vftrace_diff_profiles",
		"Usage: vftrace_diff_profiles <logfile 1> <logfile 2>\n"
		"Today: vftr diff A B\n",
		2, cmd_diff, {"diff", "--vftrace"}},
	{"vftrace_generate_default_config",
		"Usage: vftrace_generate_default_config\n"
		"Today: vftr config default\n",
		0, cmd_config, {"config", "default"}},
	{"vftrace_vfd_dump", NULL, 0, vfd_dump_link, {NULL}},
};

static int run_tool(const struct vftrace_tool *t, int argc, char **argv)
{
	char **all = xcalloc((size_t)argc + 3, sizeof(*all));
	char *first = xstrdup(t->words[0]), *second = xstrdup(t->words[1]),
	     *third = t->words[2] ? xstrdup(t->words[2]) : NULL;
	int n = 0, status;

	all[n++] = first;
	all[n++] = second;
	if (third)
		all[n++] = third;
	for (int i = 1; i < argc; i++)
		all[n++] = argv[i];
	status = t->command(n, all);
	free(first);
	free(second);
	free(third);
	free(all);
	return status;
}

bool vftrace_link(const char *name, int argc, char **argv, int *status)
{
	EACH(const struct vftrace_tool, t, tools, ARRAY_SIZE(tools)) {
		const bool help = wants_help(argc, argv);

		if (strcmp(name, t->name))
			continue;
		program_name = t->name;
		cmd_reads_foreign_files(false);
		if (!t->usage)
			*status = t->command(argc, argv);
		else if (!help && argc == t->wanted + 1)
			*status = run_tool(t, argc, argv);
		else {
			fputs(t->usage, help ? stdout : stderr);
			*status = !help;
		}
		return true;
	}
	return false;
}
