/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr tree`: the call tree of a run. */
#include "nodeagent/tool/cmd.h"

#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/tree.h"

#define DEPTH 50

static const char usage[] =
	"usage: vftr tree [OPTIONS] RUN...\n"
	"\n"
	"Shows which function calls which in a run, with the times of its profile. RUN is a\n"
	"folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such files.\n"
	"\n"
	"  -p, --percent P      only what has at least P percent of the time of the run, or\n"
	"                       of FUNCTION; default: 1\n"
	"  -d, --depth N        at most so many functions below each other, 0: all;\n"
	"                       default: 50\n"
	"  -f, --from FUNCTION  only this function and what is below it\n"
	"  -r, --reverse        functions, and below each its callers\n"
	"  -b, --base BASE      only the run of this name\n"
	"  -h, --help           this text\n"
	"\n"
	"Exit status: 0 done, 1 done without files that could not be read, 2 nothing could\n"
	"be read, or wrong usage.\n";

static bool take_percent(const char *text, void *to)
{
	char *end;
	const double value = strtod(text, &end);

	if (end != text && !*end && value >= 0.0 && value <= 100.0) {
		*(double *)to = value;
		return true;
	}
	complain("--percent %s: not a number from 0 to 100", text);
	return false;
}

static int show_tree(const struct tree_request *r, char **args, size_t n, const char *base)
{
	struct run run;
	int status = run_open(&run, args, n, base);

	if (status == 2)
		return status;
	if (!tree_show(&run, r))
		status = 2;
	run_close(&run);
	return status;
}

int cmd_tree(int argc, char **argv)
{
	struct tree_request r = {.percent = 1.0};
	const char *base = NULL;
	int64_t depth = DEPTH;
	const struct cmd_option options[] = {
		{"percent", 'p', .take = take_percent, .to = &r.percent},
		{"depth", 'd', .take = cmd_number, .to = &depth},
		{"from", 'f', .text = &r.from},
		{"reverse", 'r', .flag = &r.reverse},
		{"base", 'b', .text = &base},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, usage, "a folder or node profiles");

	if (status >= 0)
		return status;
	r.depth = (uint64_t)depth;
	return show_tree(&r, argv + optind, (size_t)(argc - optind), base);
}
