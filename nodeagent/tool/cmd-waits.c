/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr waits`: what calls have waited for other ranks or threads, where, and for whom. */
#include "nodeagent/tool/cmd.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/rank.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/base/wait-kinds.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/waits.h"
#include "nodeagent/tool/exact/exact.h"
#include "nodeagent/tool/show/run.h"

#define ROWS 20

static const char usage[] =
	"usage: vftr waits [OPTIONS] RUN...\n"
	"\n"
	"Shows how long, in a run, calls of MPI waited for other ranks and threads of OpenMP\n"
	"for locks that others had: by kind and call path, and by the rank or thread that was\n"
	"late. RUN is a folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such files.\n"
	"\n"
	"      --exact        from the sampling files in the folder, in which all calls were\n"
	"                     recorded: also between nodes, and what the late ranks did\n"
	"  -r, --rank RANK    only waits for this rank, as the tables number it, and its\n"
	"                     threads\n"
	"  -n, --number N     at most so many rows of each table, 0: all; default: 20\n"
	"  -c, --csv          as CSV, a line for each kind, call path and late rank; times are\n"
	"                     seconds\n"
	"  -j, --json         as JSON\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"vftr-analysis(7) explains the kinds.\n"
	"\n"
	"Exit status: 0 done, 1 done without files that could not be read, 2 nothing could\n"
	"be read, or wrong usage.\n";

static void put_late_path(const struct run *run, const struct profile_wait *q)
{
	char *path;

	if (!q->late_stack)
		return;
	path = report_path(&run->r, q->late_stack - 1);
	text_put_csv(stdout, path);
	free(path);
}

static void print_csv(const struct run *run, const struct waits *w)
{
	puts("kind,id,path,calls,t_s,rank,thread,rank_path,error_s");
	EACH(const struct wait_place, at, w->places, w->n_places) {
		char *path = report_path(&run->r, at->stack);

		for (size_t k = 0; k < at->n_late; k++) {
			const struct profile_wait *q = at->late[k];

			printf("%s,%" PRIu64 ",", wait_kind_name(at->kind), run->r.id[at->stack]);
			text_put_csv(stdout, path);
			printf(",%" PRIu64 ",%.9f,", q->calls, 1e-9 * (double)q->ns);
			if (q->late != PROFILE_ELSEWHERE)
				printf("%" PRIu32, profile_rank_shown(run->p, q->late));
			putchar(',');
			if (q->late_thread)
				printf("%" PRIu32, q->late_thread - 1);
			putchar(',');
			put_late_path(run, q);
			printf(",%.9f\n", 1e-9 * (double)q->error_ns);
		}
		free(path);
	}
}

static void print_json(const struct run *run, uint32_t late)
{
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-waits");
	json_uint(&j, "version", 1);
	waits_json(&j, &run->r, late);
	json_close(&j);
}

struct request {
	int64_t rank, rows;
	bool csv, json;
	const char *base;
};

static void print_run(const struct request *q, const struct run *run, uint32_t late)
{
	struct waits w;

	if (q->json) {
		print_json(run, late);
	} else if (q->csv) {
		waits_of(run->p, WAITS_FOR_BOTH, late, &w);
		print_csv(run, &w);
		waits_done(&w);
	} else {
		waits_print(stdout, &run->r, late, (uint64_t)q->rows);
	}
}

/* False after a message: there is no such rank. */
static bool find_rank(const struct run *run, int64_t rank, uint32_t *late)
{
	const uint32_t n = run->p->world_size + run->p->unranked;

	*late = WAITS_ALL;
	if (rank < 0)
		return true;
	if (rank < n) {
		*late = profile_rank_of(run->p, (uint32_t)rank);
		return true;
	}
	if (n > 1)
		complain("there is no rank %" PRId64 " in the run: its ranks are 0 to %" PRIu32,
			rank, n - 1);
	else
		complain("there is no rank %" PRId64 " in the run: its only rank is 0", rank);
	return false;
}

static int show_run(const struct request *q, char **args, size_t n)
{
	uint32_t late;
	struct run run;
	int status = run_open(&run, args, n, q->base);

	if (status == 2)
		return status;
	if (find_rank(&run, q->rank, &late))
		print_run(q, &run, late);
	else
		status = 2;
	run_close(&run);
	return status;
}

static int show_exact(const struct request *q, char **paths, size_t n)
{
	const struct exact_request r = {.form = q->json	 ? EXACT_JSON
						: q->csv ? EXACT_CSV
							 : EXACT_TEXT,
		.most = (size_t)q->rows,
		.rank = (int)MIN(q->rank, INT_MAX),
		.for_rank = true,
		.waits = true};

	return exact_show(&r, paths, n, q->base);
}

int cmd_waits(int argc, char **argv)
{
	struct request q = {.rank = -1, .rows = ROWS};
	bool exact = false;
	const struct cmd_option options[] = {
		{"exact", .flag = &exact},
		{"rank", 'r', .take = cmd_number, .to = &q.rank},
		{"number", 'n', .take = cmd_number, .to = &q.rows},
		{"csv", 'c', .flag = &q.csv},
		{"json", 'j', .flag = &q.json},
		{"base", 'b', .text = &q.base},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, usage, "a folder or node profiles");

	if (status >= 0)
		return status;
	if (exact)
		return show_exact(&q, argv + optind, (size_t)(argc - optind));
	return show_run(&q, argv + optind, (size_t)(argc - optind));
}
