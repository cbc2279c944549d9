/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr show`: the functions or call paths with the most time. */
#include "nodeagent/tool/cmd.h"

#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/show/rows.h"

static const char usage_head[] =
	"usage: vftr show [OPTIONS] RUN...\n"
	"\n"
	"Shows the functions of a run that took the most time, from its profile. RUN is a\n"
	"folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such files.\n"
	"\n"
	"  -p, --by-path      call paths instead of functions\n"
	"  -s, --sort ORDER   excl (time without callees, default), incl (with them), calls,\n"
	"                     or imbalance (time of the slowest rank beyond the mean)\n"
	"  -F, --filter REGEX only functions (call paths) that match\n"
	"  -n, --number N     at most so many rows, 0: all; default: 20, CSV and JSON: all\n"
	"  -C, --columns LIST these columns, such as calls,function; there are:\n";
static const char usage_tail[] =
	"  -c, --csv          as CSV; times are seconds\n"
	"  -j, --json         as JSON\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 done without files that could not be read, 2 nothing could\n"
	"be read, or wrong usage.\n";

static void print_usage(void)
{
	fputs(usage_head, stdout);
	show_columns_help(stdout);
	fputs(usage_tail, stdout);
}

static int show_run(const struct show_request *r, char **args, size_t n, const char *base)
{
	struct show_rows rows;
	struct run run;
	int status = run_open(&run, args, n, base);

	if (status == 2)
		return status;
	if (rows_make(&rows, &run, r)) {
		if (!rows_print(&rows, r))
			status = 2;
		rows_free(&rows);
	} else {
		status = 2;
	}
	run_close(&run);
	return status;
}

int cmd_show(int argc, char **argv)
{
	struct show_request r = {0};
	const char *base = NULL;
	int64_t limit = -1;
	const struct cmd_option options[] = {
		{"by-path", 'p', .flag = &r.by_path},
		{"sort", 's', .text = &r.sort},
		{"filter", 'F', .text = &r.filter},
		{"number", 'n', .take = cmd_number, .to = &limit},
		{"columns", 'C', .text = &r.columns},
		{"csv", 'c', .flag = &r.csv},
		{"json", 'j', .flag = &r.json},
		{"base", 'b', .text = &base},
		{"help", 'h', .say = print_usage},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, NULL, "a folder or node profiles");

	if (status >= 0)
		return status;
	r.limited = limit >= 0;
	r.limit = r.limited ? (uint64_t)limit : 0;
	return show_run(&r, argv + optind, (size_t)(argc - optind), base);
}
