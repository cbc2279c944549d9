/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every key of the configuration file, one row per key, in the order in which
 * they are printed. struct conf, the parser, the advisor, the printer and
 * `vftr config` are all made from this table; vftr-config(5) is tested
 * against it. Rows of one section stand together, below its name.
 *
 * X(TYPE, field, path, default, min, max, words, null, text)
 *	TYPE	 BOOL INT AUTO_INT AUTO_BOOL DOUBLE AUTO_DOUBLE TIME STRING SIZE CHOICE WORDS RANKS
 *		 REGEX CPU TAGS PATTERNS COUNTERS OBSERVABLES; see enum conf_type
 *	field	 member of struct conf: the path with '.' as '_'
 *	default	 as it would be given on the command line; NULL is null
 *	min, max what INT, AUTO_INT, DOUBLE, AUTO_DOUBLE, TIME (seconds) and SIZE (bytes) accept
 *	words	 what CHOICE and each word of WORDS accepts, separated by '|'
 *		 SIZE: "power of two"
 *		 INT: the unit of its numbers if it may be given as a size, "1MiB"
 *	null	 whether null is accepted
 *	text	 one sentence for the user
 */
#ifndef VFTR_CONF_OPTIONS_H
#define VFTR_CONF_OPTIONS_H

#define CONF_SORT_STACKS   "time_excl|time_incl|calls|stack_id|overhead|none"
#define CONF_IMBALANCES	   "deviation|max_mean|idle|variation|range|balance"
#define CONF_SORT_NAMES	   "time_excl|time_incl|calls|none"
#define CONF_SORT_MPI	   "messages|send_size|recv_size|send_bw|recv_bw|comm_time|stack_id|none"
#define CONF_SORT_CUDA	   "time|memcpy|cbid|calls|none"
#define CONF_SORT_ACC	   "time|memcpy|calls|none"
#define CONF_SAMPLING_WHEN "slow,signal,death,request"
#define CONF_ANNOTATIONS                                                                           \
	"kokkos|petsc|likwid|papi|roctx|perfstubs|caliper|scorep|tau|extrae|itt|pcontrol"
#define CONF_ANNOTATIONS_FREE "kokkos,petsc,likwid,papi,roctx,perfstubs,caliper,scorep,tau,extrae"
#define CONF_KIB	      1024.0
#define CONF_MIB	      (1024.0 * CONF_KIB)
#define CONF_GIB	      (1024.0 * CONF_MIB)
#define CONF_INT_MAX	      2147483647.0
#define CONF_SECONDS	      1e9

/* clang-format off */
#define CONF_OPTIONS(X) \
X(BOOL, off, "off", "false", 0, 0, NULL, false, \
  "Trace nothing: hooks and wrappers cost a call.") \
X(STRING, output_directory, "output_directory", ".", 0, 0, NULL, false, \
  "Existing directory for all files written.") \
X(STRING, outfile_basename, "outfile_basename", NULL, 0, 0, NULL, true, \
  "First part of the names of all files written; null takes the program's name.") \
X(RANKS, logfile_for_ranks, "logfile_for_ranks", "none", 0, 0, NULL, false, \
  "Ranks that get a log of their own besides the summary.") \
X(BOOL, print_config, "print_config", "true", 0, 0, NULL, false, \
  "Append the configuration to each log.") \
X(BOOL, strip_module_names, "strip_module_names", "false", 0, 0, NULL, false, \
  "Cut Fortran module names off function names.") \
X(BOOL, demangle_cxx, "demangle_cxx", "true", 0, 0, NULL, false, \
  "Show C++ and Rust functions by their readable names.") \
X(BOOL, include_cxx_prelude, "include_cxx_prelude", "false", 0, 0, NULL, false, \
  "Profile also what runs before main, such as C++ static constructors.") \
X(BOOL, report, "report", "false", 0, 0, NULL, false, \
  "Write the results of the run also as one HTML file, as vftr report does.") \
X(WORDS, annotations, "annotations", CONF_ANNOTATIONS_FREE, 0, 0, CONF_ANNOTATIONS, false, \
  "Interfaces of other tools whose calls in the program become regions.") \
\
X(CHOICE, output_layout, "output.layout", "vftrace", 0, 0, "vftrace|run", false, \
  "Names and form of the files written: those of Vftrace, or those of vftr run.") \
X(INT, output_max_columns, "output.max_columns", "0", 0, 100000, NULL, false, \
  "Most columns of a terminal that a line of a table in the logs takes; 0 shows all.") \
X(CHOICE, output_names, "output.names", "short", 0, 0, "short|full|linker", false, \
  "Names of functions: short, with template arguments and parameters, or the linker's.") \
X(BOOL, output_command_line, "output.command_line", "true", 0, 0, NULL, false, \
  "Keep the command line of the run in its results; a command line may hold a password.") \
X(TAGS, output_tags, "output.tags", "", 0, 0, NULL, false, \
  "What the user says of the run, for its results: KEY=VALUE, with commas between several.") \
\
X(AUTO_INT, profile_sample, "profile.sample", "auto", 0, 1000, NULL, false, \
  "Stack samples for each second of CPU time of a thread; auto: 20 where nothing is instrumented.") \
X(CHOICE, profile_sample_by, "profile.sample_by", "auto", 0, 0, "auto|perf|timer", false, \
  "Who takes stack samples: the kernel, timers in the program, or timers where the kernel may not.") \
X(BOOL, profile_xray, "profile.xray", "true", 0, 0, NULL, false, \
  "Record the functions of programs that clang has built with -fxray-instrument.") \
X(REGEX, profile_exclude, "profile.exclude", NULL, 0, 0, NULL, true, \
  "Functions and regions that are not in the profile: their time is that of their callers.") \
X(INT, profile_depth, "profile.depth", "0", 0, 1024, NULL, false, \
  "Functions and regions deeper than this, with main at 1, are not in the profile; 0: all are.") \
X(AUTO_BOOL, profile_prune, "profile.prune", "false", 0, 0, NULL, false, \
  "Add up call paths with little time in the summary; auto: if there are more than 1000000.") \
\
X(PATTERNS, filter_only, "filter.only", "", 0, 0, NULL, false, \
  "Functions that are recorded with what they call, and no others; empty: all are.") \
X(PATTERNS, filter_not, "filter.not", "", 0, 0, NULL, false, \
  "Functions and regions that are not recorded, nor the functions that they call.") \
X(INT, filter_depth, "filter.depth", "0", 0, 1024, NULL, false, \
  "Functions deeper than this, of those that are recorded, are not; 0: all are.") \
X(TIME, filter_time, "filter.time", "0", 0, CONF_SECONDS, NULL, false, \
  "Calls of functions that are shorter, in seconds, are not in the time line; profiles have them.") \
\
X(BOOL, profile_table_show_table, "profile_table.show_table", "true", 0, 0, NULL, false, \
  "Show the runtime profile, one row per call path.") \
X(BOOL, profile_table_show_calltime_imbalances, "profile_table.show_calltime_imbalances", \
  "false", 0, 0, NULL, false, \
  "Add the columns of the largest deviation from the mean exclusive time and its rank.") \
X(BOOL, profile_table_show_callpath, "profile_table.show_callpath", "false", 0, 0, NULL, false, \
  "Add a column with the call path.") \
X(BOOL, profile_table_show_overhead, "profile_table.show_overhead", "false", 0, 0, NULL, false, \
  "Add a column with the estimated cost of tracing.") \
X(BOOL, profile_table_show_minmax_summary, "profile_table.show_minmax_summary", \
  "false", 0, 0, NULL, false, \
  "Show the table of least, greatest and mean exclusive times over the ranks.") \
X(BOOL, profile_table_separate, "profile_table.separate", "false", 0, 0, NULL, false, \
  "Write the tables other than the runtime profile into files of their own.") \
X(CHOICE, profile_table_imbalance_formula, "profile_table.imbalance_formula", \
  "deviation", 0, 0, CONF_IMBALANCES, false, \
  "What the columns and members named imbalance are computed by.") \
X(CHOICE, profile_table_threads, "profile_table.threads", "none", 0, 0, "none|summary|all", false, \
  "Show threads: not at all, as one summary per rank, or each.") \
X(CHOICE, profile_table_sort_table_column, "profile_table.sort_table.column", \
  "time_excl", 0, 0, CONF_SORT_STACKS, false, \
  "Column by which the runtime profile is sorted; none sorts by stack id.") \
X(BOOL, profile_table_sort_table_ascending, "profile_table.sort_table.ascending", \
  "false", 0, 0, NULL, false, \
  "Sort the runtime profile from the least to the greatest.") \
X(INT, profile_table_max_rows, "profile_table.max_rows", "0", 0, CONF_INT_MAX, NULL, false, \
  "Most rows of each table of call paths in the logs; 0 shows all.") \
X(DOUBLE, profile_table_min_percent, "profile_table.min_percent", "0", 0, 100, NULL, false, \
  "Leave rows of less exclusive time, in percent of that of all, out of the logs.") \
X(INT, profile_table_min_samples, "profile_table.min_samples", "5", 0, CONF_INT_MAX, NULL, false, \
  "Fewest stack samples of a function or path in the logs; 0 shows all.") \
\
X(BOOL, stacklist_show_stacklist, "stacklist.show_stacklist", "true", 0, 0, NULL, false, \
  "Show the list of all call paths with their stack ids.") \
\
X(AUTO_BOOL, name_grouped_profile_table_show_table, "name_grouped_profile_table.show_table", \
  "auto", 0, 0, NULL, false, \
  "Show the runtime profile grouped by function; auto: if there are stack samples.") \
X(INT, name_grouped_profile_table_max_stack_ids, "name_grouped_profile_table.max_stack_ids", \
  "8", 0, CONF_INT_MAX, NULL, false, \
  "Stack ids listed for a function before the list is cut.") \
X(CHOICE, name_grouped_profile_table_sort_table_column, \
  "name_grouped_profile_table.sort_table.column", "time_excl", 0, 0, CONF_SORT_NAMES, false, \
  "Column by which the grouped profile is sorted.") \
X(BOOL, name_grouped_profile_table_sort_table_ascending, \
  "name_grouped_profile_table.sort_table.ascending", "false", 0, 0, NULL, false, \
  "Sort the grouped profile from the least to the greatest.") \
\
X(BOOL, sampling_active, "sampling.active", "false", 0, 0, NULL, false, \
  "Write a sampling file: enters and exits along the time line.") \
X(TIME, sampling_sample_interval, "sampling.sample_interval", "0.005", 0, CONF_SECONDS, NULL, false, \
  "Least time in seconds between two ordinary samples; 0 records every call.") \
X(INT, sampling_outbuffer_size, "sampling.outbuffer_size", "8", 1, 65536, "1MiB", false, \
  "MiB of the sampling file that may wait for the disk, before rings fill.") \
X(REGEX, sampling_precise_functions, "sampling.precise_functions", NULL, 0, 0, NULL, true, \
  "Functions of which every call is sampled.") \
X(SIZE, sampling_max_size, "sampling.max_size", NULL, CONF_MIB, 1024 * 1024 * CONF_GIB, NULL, true, \
  "Greatest size of a node's sampling file; null sets no limit.") \
X(TIME, sampling_keep, "sampling.keep", "0", 0, CONF_SECONDS, NULL, false, \
  "Seconds of calls kept in memory until an event; 0 writes all as they come.") \
X(WORDS, sampling_when, "sampling.when", CONF_SAMPLING_WHEN, 0, 0, "slow|signal|death|request", false, \
  "Events at which what is kept is written.") \
X(SIZE, sampling_keep_size, "sampling.keep_size", "64MiB", CONF_MIB, 64 * CONF_GIB, NULL, false, \
  "Most memory of a node's agent for what is kept; what is older goes.") \
X(TIME, sampling_pause, "sampling.pause", "30", 0, CONF_SECONDS, NULL, false, \
  "Least time in seconds between files for slow iterations or deaths.") \
\
X(BOOL, mpi_show_table, "mpi.show_table", "true", 0, 0, NULL, false, \
  "Show the communication table.") \
X(BOOL, mpi_log_messages, "mpi.log_messages", "true", 0, 0, NULL, false, \
  "Record messages; without it MPI functions appear only with their times.") \
X(CHOICE, mpi_call_sites, "mpi.call_sites", "auto", 0, 0, "auto|on|off", false, \
  "Show from which line each MPI function was called; auto: where no function is instrumented.") \
X(BOOL, mpi_match, "mpi.match", "true", 0, 0, NULL, false, \
  "Find for each message the thread that sent it and the one that received it.") \
X(BOOL, mpi_waits, "mpi.waits", "true", 0, 0, NULL, false, \
  "Find for whom MPI calls have waited: late senders, late members of collectives.") \
X(RANKS, mpi_only_for_ranks, "mpi.only_for_ranks", "all", 0, 0, NULL, false, \
  "Count a message only if both its ranks are listed here.") \
X(BOOL, mpi_show_sync_time, "mpi.show_sync_time", "false", 0, 0, NULL, false, \
  "Show the waiting time of blocking collectives, fences, and calls that make or free a window " \
  "as functions of their own, NAME_sync.") \
X(BOOL, mpi_show_callpath, "mpi.show_callpath", "false", 0, 0, NULL, false, \
  "Add a column with the call path to the communication table.") \
X(CHOICE, mpi_sort_table_column, "mpi.sort_table.column", "none", 0, 0, CONF_SORT_MPI, false, \
  "Column by which the communication table is sorted; none sorts by stack id.") \
X(BOOL, mpi_sort_table_ascending, "mpi.sort_table.ascending", "false", 0, 0, NULL, false, \
  "Sort the communication table from the least to the greatest.") \
\
X(BOOL, python_functions, "python.functions", "false", 0, 0, NULL, false, \
  "Record functions of Python programs, as module.function.") \
X(REGEX, python_include, "python.include", NULL, 0, 0, NULL, true, \
  "Functions of Python that are recorded, as module.function; null takes all.") \
X(REGEX, python_exclude, "python.exclude", "^(_frozen_importlib|importlib[.]_bootstrap)", 0, 0, \
  NULL, true, "Functions of Python that are not recorded; by default those that import modules.") \
\
X(BOOL, iterations_active, "iterations.active", "true", 0, 0, NULL, false, \
  "Find the main loop, and tell how long each of its iterations lasted on all ranks.") \
X(REGEX, iterations_of, "iterations.of", NULL, 0, 0, NULL, true, \
  "Functions or regions whose calls are the iterations; null finds them.") \
\
X(BOOL, cuda_show_table, "cuda.show_table", "true", 0, 0, NULL, false, \
  "Show the CUDA table.") \
X(CHOICE, cuda_sort_table_column, "cuda.sort_table.column", "time", 0, 0, CONF_SORT_CUDA, false, \
  "Column by which the CUDA table is sorted.") \
X(BOOL, cuda_sort_table_ascending, "cuda.sort_table.ascending", "false", 0, 0, NULL, false, \
  "Sort the CUDA table from the least to the greatest.") \
\
X(CHOICE, hwprof_type, "hwprof.type", "dummy", 0, 0, "dummy|papi|perf|likwid|ve", false, \
  "Source of the hardware counters.") \
X(BOOL, hwprof_active, "hwprof.active", "true", 0, 0, NULL, false, \
  "Read the hardware counters that are configured.") \
X(BOOL, hwprof_show_observables, "hwprof.show_observables", "true", 0, 0, NULL, false, \
  "Show the table of observables.") \
X(BOOL, hwprof_show_counters, "hwprof.show_counters", "false", 0, 0, NULL, false, \
  "Show the table of counters.") \
X(BOOL, hwprof_show_summary, "hwprof.show_summary", "false", 0, 0, NULL, false, \
  "Show totals below the tables.") \
X(INT, hwprof_sort_by_column, "hwprof.sort_by_column", "0", 0, CONF_INT_MAX, NULL, false, \
  "Position of the observable by which the tables are sorted, from 0.") \
X(STRING, hwprof_default_scenario, "hwprof.default_scenario", "", 0, 0, NULL, true, \
  "JSON file that holds counters and observables, instead of the two lists here.") \
X(COUNTERS, hwprof_counters, "hwprof.counters", "[]", 0, 0, NULL, false, \
  "Hardware counters to read, and the symbol of each in formulas.") \
X(OBSERVABLES, hwprof_observables, "hwprof.observables", "[]", 0, 0, NULL, false, \
  "Values computed from counters: formulas over their symbols, T (time) and CALLS.") \
\
X(BOOL, openacc_active, "openacc.active", "true", 0, 0, NULL, false, \
  "Record OpenACC events.") \
X(BOOL, openacc_show_table, "openacc.show_table", "true", 0, 0, NULL, false, \
  "Show the OpenACC table.") \
X(BOOL, openacc_show_event_details, "openacc.show_event_details", "false", 0, 0, NULL, false, \
  "Show the table of single OpenACC events.") \
X(CHOICE, openacc_sort_table_column, "openacc.sort_table.column", "time", 0, 0, CONF_SORT_ACC, false, \
  "Column by which the OpenACC table is sorted.") \
X(BOOL, openacc_sort_table_ascending, "openacc.sort_table.ascending", "false", 0, 0, NULL, false, \
  "Sort the OpenACC table from the least to the greatest.") \
\
X(BOOL, openmp_show_idle_time, "openmp.show_idle_time", "false", 0, 0, NULL, false, \
  "Show waits at the end of OpenMP regions as omp_join, workers between regions as (idle).") \
\
X(BOOL, files_active, "files.active", "false", 0, 0, NULL, false, \
  "Record what the program does with files: calls, bytes and times by file and by call path.") \
X(REGEX, files_exclude, "files.exclude", "^/(proc|sys|dev)/", 0, 0, NULL, true, \
  "Leave out the files whose paths match this expression.") \
\
X(BOOL, memory_active, "memory.active", "false", 0, 0, NULL, false, \
  "Record what the program allocates: bytes, live bytes, peak and leaks by call path.") \
X(SIZE, memory_large, "memory.large", "64KiB", 0, CONF_GIB, NULL, false, \
  "Record each allocation of at least so many bytes, and samples of smaller ones.") \
X(SIZE, memory_sample_bytes, "memory.sample_bytes", "512KiB", 16, CONF_GIB, NULL, false, \
  "Sample small allocations once in so many bytes, on average.") \
\
X(BOOL, locks_active, "locks.active", "false", 0, 0, NULL, false, \
  "Record which threads wait for which mutex, condition variable and the like, and who had it.") \
\
X(SIZE, shm_ring_size, "shm.ring_size", "4MiB", 32 * CONF_KIB, CONF_GIB, "power of two", false, \
  "Size of the ring of each thread.") \
X(CHOICE, shm_when_full, "shm.when_full", "block", 0, 0, "block|drop", false, \
  "What a thread does when its ring is full: wait for the agent, or leave out calls and count them.") \
X(TIME, shm_block_most_s, "shm.block_most_s", "30", 0.1, 1e6, NULL, false, \
  "Seconds that a program waits for an agent that gives no sign; then it goes on untraced.") \
\
X(CPU, agent_cpu, "agent.cpu", "auto", 0, 0, NULL, false, \
  "Where the agent runs: auto takes a CPU to which no rank is bound, any leaves it to the kernel.") \
X(AUTO_INT, agent_readers, "agent.readers", "auto", 1, 64, NULL, false, \
  "Threads that read rings; auto: one, and more while rings fill and CPUs are idle.") \
X(TIME, agent_linger_s, "agent.linger_s", "1", 0, CONF_SECONDS, NULL, false, \
  "Seconds without any traced process after which the agent finishes.") \
X(TIME, agent_write_every_s, "agent.write_every_s", "0", 0, CONF_SECONDS, NULL, false, \
  "Seconds between two writings of the results so far; 0 writes them at the end only.") \
X(TIME, agent_standby_s, "agent.standby_s", "30", 0, CONF_SECONDS, NULL, false, \
  "Seconds between two copies of the agent that write its results if it is killed; 0: none.") \
X(CHOICE, agent_successor, "agent.successor", "after_death", 0, 0, "never|after_death|always", false, \
  "When processes go over to the next agent of the session: after this one's death, or always.") \
X(TIME, agent_deadline_s, "agent.deadline_s", "60", 0.001, CONF_SECONDS, NULL, false, \
  "Seconds that the agents wait for each other before they go on without the missing one.") \
X(TIME, agent_start_s, "agent.start_s", "60", 0.001, CONF_SECONDS, NULL, false, \
  "Seconds that the agents of several nodes may take to start and to meet.") \
X(TIME, agent_deadlock_s, "agent.deadlock_s", "0", 0, CONF_SECONDS, NULL, false, \
  "Seconds without any record after which call stacks and the results so far are written; 0: never.") \
X(STRING, agent_metrics_file, "agent.metrics_file", NULL, 0, 0, NULL, true, \
  "Text file for Prometheus with the counts of this node, written again and again.") \
X(TIME, agent_metrics_every_s, "agent.metrics_every_s", "15", 1, CONF_SECONDS, NULL, false, \
  "Seconds between two writings of agent.metrics_file.") \
X(BOOL, agent_remote_viewers, "agent.remote_viewers", "false", 0, 0, NULL, false, \
  "Let vftr top and vftr where of other machines look, over the agents' TCP connections.") \
X(STRING, agent_stop_file, "agent.stop_file", NULL, 0, 0, NULL, true, \
  "A file that ends the run, as SIGTERM to the agent does, as soon as it is there.") \
X(STRING, agent_launcher, "agent.launcher", NULL, 0, 0, NULL, true, \
  "Command that starts one agent per node; null derives it from the traced command.") \
\
X(CHOICE, clock_source, "clock.source", "auto", 0, 0, "auto|tsc|raw", false, \
  "Clock of the records: the processor's counter, CLOCK_MONOTONIC_RAW, or the better usable one.") \
X(TIME, clock_sync_interval_s, "clock.sync_interval_s", "10", 0.001, CONF_SECONDS, NULL, false, \
  "Seconds between two comparisons of the clocks of the nodes.") \
\
X(DOUBLE, overhead_budget_percent, "overhead.budget_percent", NULL, 0.01, 100, NULL, true, \
  "Share of the CPU time of the traced processes that tracing may cost; null sets no limit.") \
X(BOOL, overhead_remove_calls, "overhead.remove_calls", "false", 0, 0, NULL, false, \
  "Take the hooks of functions that are off out of the code: nothing is left to count, nor to pay.") \
X(BOOL, overhead_count_calls, "overhead.count_calls", "false", 0, 0, NULL, false, \
  "Count the calls of what the budget switches off by call path, and estimate their time.") \
X(AUTO_DOUBLE, overhead_count_tiny, "overhead.count_tiny", "auto", 0.01, 100, NULL, true, \
  "Percent of CPU time that hooks may cost before short functions are counted; null: time all.") \
X(REGEX, overhead_keep, "overhead.keep", NULL, 0, 0, NULL, true, \
  "Functions that are traced whatever the budget says.") \
\
X(STRING, open_viewer, "open.viewer", NULL, 0, 0, NULL, true, \
  "Program with its options that vftr open starts; null: Perfetto's page in a browser.")
/* clang-format on */

#endif
