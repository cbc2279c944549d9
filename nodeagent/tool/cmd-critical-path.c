/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr critical-path`: what a run could not have been shorter without, and why ranks waited. */
#include "nodeagent/tool/cmd.h"

#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/exact/exact.h"

static const char usage[] =
	"usage: vftr critical-path [OPTIONS] RUN|FILE...\n"
	"\n"
	"Shows the critical path of a run: the chain of work and messages that decided how\n"
	"long it took, by rank and call path; with --waits also what ranks waited for, and\n"
	"whose work it goes back to. RUN is a folder with sampling files (BASE_HOST.vfd,\n"
	"HOST.vfd) in which all calls were recorded, see vftr-run(1), or such files.\n"
	"\n"
	"  -w, --waits        waits and their causes, too\n"
	"  -r, --rank N       the waits of this rank only; includes --waits\n"
	"  -n, --rows N       at most so many rows of each table, 0: all; default: 20\n"
	"  -c, --csv          as CSV, all rows; times are seconds\n"
	"  -j, --json         as JSON, all rows and waits\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"vftr-analysis(7) explains the numbers.\n"
	"\n"
	"Exit status: 0 done, 1 done without files that could not be read, 2 nothing could\n"
	"be read, or wrong usage.\n";

int cmd_critical_path(int argc, char **argv)
{
	struct exact_request r = {.path = true};
	bool csv = false, json = false;
	const char *base = NULL;
	int64_t rows = 20, rank = -1;
	const struct cmd_option options[] = {
		{"waits", 'w', .flag = &r.waits},
		{"rank", 'r', .take = cmd_number, .to = &rank},
		{"rows", 'n', .take = cmd_number, .to = &rows},
		{"csv", 'c', .flag = &csv},
		{"json", 'j', .flag = &json},
		{"base", 'b', .text = &base},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, usage, "the folder of a run");

	if (status >= 0)
		return status;
	r.form = json ? EXACT_JSON : csv ? EXACT_CSV : EXACT_TEXT;
	r.waits |= json || rank >= 0;
	r.most = (size_t)rows;
	r.rank = (int)rank;
	return exact_show(&r, argv + optind, (size_t)(argc - optind), base);
}
