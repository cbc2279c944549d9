/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions in each run, between function.c, which finds them, and print.c. */
#ifndef VFTR_NODEAGENT_TOOL_EFFICIENCY_INTERNAL_H
#define VFTR_NODEAGENT_TOOL_EFFICIENCY_INTERNAL_H

#include <stdint.h>

#include "nodeagent/report/scaling.h"
#include "nodeagent/tool/efficiency/function.h"

/* A function in a run; what is not known is NAN. Times are exclusive, in seconds. */
struct function_time {
	uint64_t paths; /* 0: the run does not have it */
	uint64_t calls;
	double time_s;		     /* summed over ranks and threads */
	double share;		     /* of the exclusive times of all functions, 0 to 1 */
	double mean_s;		     /* over all ranks of the job */
	double max_s;		     /* of the slowest rank; several paths: what it has at least */
	double min_s;		     /* of the fastest rank */
	double balance;		     /* mean_s / max_s, 0 to 1; several paths: at most */
	uint32_t rank_max, rank_min; /* as printed; PROFILE_NONE: not known */
	double scaling; /* of several runs: time in the reference / in this run; weak: per thread */
};

struct function_run {
	const char *path; /* as named */
	char *name;
	struct scaling_run run;
	struct function_time *times; /* by function of the request */
};

struct function_runs {
	const struct function_request *request;
	struct function_run *at;
	size_t n, reference;
	struct scaling scaling; /* of several runs */
};

/* On standard output. */
void functions_print(const struct function_runs *all);
void functions_print_csv(const struct function_runs *all);
void functions_print_json(const struct function_runs *all);

#endif
