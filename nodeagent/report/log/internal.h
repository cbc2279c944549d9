/* SPDX-License-Identifier: BSD-3-Clause */
/* Declarations for the files of this folder only. */
#ifndef VFTR_NODEAGENT_REPORT_LOG_INTERNAL_H
#define VFTR_NODEAGENT_REPORT_LOG_INTERNAL_H

/* Each file here uses columns.h: lists of records as tables and as JSON. */
#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/columns.h"
#include "nodeagent/report/measures.h"
#include "nodeagent/report/report.h"

/* Prints a sentence if tracing has taken much of the run, which took runtime_s. */
void section_overhead_warning(FILE *f, const struct report *r, double runtime_s);
/* The requests that were never seen to complete: a sentence with their number; members of JSON. */
void section_open_sentence(FILE *f, const struct profile *p);
void json_open_requests(struct json *j, const struct report *r);
/*
 * Prints, below the waits of ranks, how many collective calls with members on several nodes were
 * not compared.
 */
void print_compared(FILE *f, const struct profile *p);
/* The same for calls within nodes; prints nothing if all were compared. */
void print_sampled(FILE *f, const struct profile *p);
/* waits-missing.c: a line that says why waits are not all known, if they are not; the reasons as an
 * array of JSON. */
void print_waits_missing(FILE *f, const struct profile *p);
void json_waits_missing(struct json *j, const struct profile *p);
/* Prints what is wrong with matched messages: those without a partner, with too many bytes,
 * received before they were sent. */
void section_matching_faults(FILE *f, const struct profile *p);

#define AGENTS_ALL 100 /* so many agents are all shown */
/*
 * Indices of the agents that a table shows, in rising order: all, or of more than AGENTS_ALL the 50
 * with the greatest weight. The caller frees.
 */
uint32_t *report_agents(
	const struct profile *p, double (*weight)(const struct profile_agent *), size_t *n_shown);
/* True if there are several nodes, and a clock was compared. */
bool report_has_clocks(const struct profile *p);

/* Activities that a stack has started on a device (ratio.c). */
enum ratio_kind { RATIO_OTHER, RATIO_KERNEL, RATIO_IN, RATIO_OUT, RATIO_KINDS };
struct ratio_item {
	enum ratio_kind kind;
	uint32_t caller; /* the stack above, or PROFILE_NONE */
	/* calls; ranks that made any; the least and the most of one of these */
	uint64_t calls, ranks, min, max;
	char *name; /* shown of a kernel, which has one; of others unused, or NULL */
};
/* Prints the number of copies for each kernel, by caller. Frees items and their names. */
void section_ratio(
	FILE *f, const struct report *r, const char *title, struct ratio_item *items, size_t n);

/* mpi-matrix.c, mpi-objects.c: parts of section_mpi() and json_mpi(). rank: as in the profile. */
extern const struct list mpi_sizes, mpi_comms, mpi_comm_rests, mpi_files, mpi_pairs;
void section_matrix(FILE *f, const struct report *r);
void section_peers(FILE *f, const struct report *r, uint32_t rank);
void section_sizes(FILE *f, const struct report *r);
void section_comms(FILE *f, const struct report *r);

/* Parts of section_gpu() and json_gpu(): gpu-devices.c, gpu-calls.c. */
extern const struct list gpu_device_list, gpu_stream_list, gpu_link_list, gpu_link_rest_list,
	gpu_wait_list;
/* In large jobs: of those that have no row of their own. */
extern const struct list gpu_device_sum_list, gpu_stream_sum_list;
void section_gpu_links(FILE *f, const struct report *r);
void section_gpu_ratios(FILE *f, const struct report *r);
/* True if the entry is the sum of a device's streams. */
bool gpu_is_whole_device(const struct profile_gpu_stream *s);

/* Summary lines with the time of all activities of GPUs, and of all events of OpenACC, if any. */
void section_gpu_times(FILE *f, const struct report *r);
void section_openacc_times(FILE *f, const struct report *r);

/* Writes members of a stack: how many threads it has, least and most exclusive time of one. */
void json_thread_range(struct json *j, const struct report *r, uint32_t stack);

/*
 * Prints the hardware counters of all threads in ended_threads[], of which 200 have a row; of the
 * thread that has these n stacks, in their order.
 */
void section_hwprof_threads(FILE *f, const struct report *r);
void section_hwprof_thread(FILE *f, const struct report *r,
	const struct profile_thread_stack *const *stacks, size_t n);
/* Writes the counters as members of a stack; of a thread at a stack (PROFILE_NONE: at all). */
void json_hwprof_stack(struct json *j, const struct report *r, uint32_t stack);
void json_hwprof_thread(struct json *j, const struct report *r, uint32_t thread, uint32_t stack);

#endif
