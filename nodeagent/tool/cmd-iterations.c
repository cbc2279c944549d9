/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr iterations`: how long the iterations of a run's main loop lasted. */
#include "nodeagent/tool/cmd.h"

#include <inttypes.h>
#include <unistd.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/main-loop.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/tool/show/run.h"

#define ROWS 20

static const char usage[] =
	"usage: vftr iterations [OPTIONS] RUN...\n"
	"\n"
	"Shows the main loop of a run: how long its iterations lasted on all ranks, of which\n"
	"kinds they are, which were far longer than others of their kind, and why. RUN is a\n"
	"folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such files.\n"
	"\n"
	"  -n, --number N     at most so many slow iterations, 0: all; default: 20\n"
	"  -c, --csv          as CSV, a line for each iteration; times are seconds\n"
	"  -j, --json         as JSON\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"vftr-analysis(7) says how the loop is found; iterations.of in vftr-config(5) names it.\n"
	"\n"
	"Exit status: 0 done, 1 done without files that could not be read, 2 nothing could\n"
	"be read, or wrong usage.\n";

static void print_csv(const struct run *run)
{
	struct main_loop l;

	puts("first,iterations,ranks,kind,mean_s,least_s,most_s,most_at,most_rank,mpi_share,"
	     "outside_mpi_s,outside_mpi_most_s,outside_mpi_rank,wait_s,off_cpu_s,off_cpu_most_s,"
	     "parallel_efficiency,load_balance,communication_efficiency,cause,queued_most_s,"
	     "asleep_most_s");
	if (!main_loop_of(run->p, &l))
		return;
	EACH(const struct loop_step, s, l.steps, l.n_steps) {
		printf("%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%u,%.9f,%.9f,%.9f,%" PRIu64 ",%" PRIu32
		       ",%.9f,%.9f,%.9f,%" PRIu32 ",%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%s",
			s->first, s->n, s->ranks, s->kind, s->mean, s->least, s->most, s->at,
			s->rank, s->mpi, s->busy, s->busiest, s->by, s->wait, s->off, s->by_off,
			s->efficiency.parallel, s->efficiency.balance, s->efficiency.communication,
			s->cause ? loop_cause_name(s->cause) : "");
		if (loop_step_tells_off(s))
			printf(",%.9f,%.9f\n", s->by_queued, s->by_asleep);
		else
			puts(",,");
	}
	main_loop_done(&l);
}

static void print_json(const struct run *run)
{
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-iterations");
	json_uint(&j, "version", 1);
	json_main_loop(&j, &run->r);
	json_close(&j);
}

int cmd_iterations(int argc, char **argv)
{
	int64_t rows = ROWS;
	bool csv = false, json = false;
	const char *base = NULL;
	const struct cmd_option options[] = {
		{"number", 'n', .take = cmd_number, .to = &rows},
		{"csv", 'c', .flag = &csv},
		{"json", 'j', .flag = &json},
		{"base", 'b', .text = &base},
		{0},
	};
	struct run run;
	int status = cmd_options_for(argc, argv, options, usage, "a folder or node profiles");

	if (status >= 0)
		return status;
	status = run_open(&run, argv + optind, (size_t)(argc - optind), base);
	if (status == 2)
		return status;
	if (json)
		print_json(&run);
	else if (csv)
		print_csv(&run);
	else
		main_loop_print(stdout, &run.r, (uint64_t)rows);
	run_close(&run);
	return status;
}
