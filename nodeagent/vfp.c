/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables that describe the records of each section of a node profile, for
 * vfp-write.c and vfp-read.c.
 */
#include "nodeagent/vfp-format.h"

#include "nodeagent/profile.h"
#include "nodeagent/util.h"

/* clang-format off */
#define AT(kind, type, member) { kind, offsetof(struct type, member) }
#define SECTION(tag, fields, element, member, later) \
	{ tag, fields, ARRAY_SIZE(fields), sizeof(element), \
	  offsetof(struct profile, n_##member), offsetof(struct profile, member), later }
#define LIST(tag, fields, element, member) SECTION(tag, fields, element, member, false)
/* of which earlier files have none */
#define LATER(tag, fields, element, member) SECTION(tag, fields, element, member, true)

static const struct vfp_field job_fields[] = {
	AT(TEXT_OR_NULL, profile, application),
	AT(TEXT_OR_NULL, profile, executable),
	AT(I64, profile, start_s),
	AT(I64, profile, end_s),
	AT(REAL, profile, runtime_s),
	AT(COUNT, profile, world_size),
	AT(COUNT, profile, ranks),
	AT(COUNT, profile, unranked),
	AT(COUNT, profile, threads),
	AT(U64, profile, records),
	AT(U64, profile, calls),
	AT(U64, profile, lost_calls),
	AT(U64, profile, blocked_ns),
	AT(U64, profile, hook_ns_total),
	AT(U64, profile, lost_messages),
	AT(U64, profile, open_requests),
	AT(U64, profile, ring_bytes),
	AT(U64, profile, ambiguous_sends),
	AT(U64, profile, ambiguous_receives),
	AT(U64, profile, lost_processes),
};

static const struct vfp_field text_fields[] = {{ TEXT, 0 }};

static const struct vfp_field stack_fields[] = {
	AT(U64, profile_stack, hash),
	AT(U32, profile_stack, parent),
	AT(U32, profile_stack, name),
	AT(U64, profile_stack, calls),
	AT(U64, profile_stack, lost_calls),
	AT(U64, profile_stack, incl_ns),
	AT(U64, profile_stack, excl_ns),
	AT(U32, profile_stack, ranks),
	AT(U32, profile_stack, rank_min),
	AT(U32, profile_stack, rank_max),
	AT(U64, profile_stack, excl_min_ns),
	AT(U64, profile_stack, excl_max_ns),
	AT(U128, profile_stack, excl_sumsq_ns2),
	AT(FLAG, profile_stack, estimated),
};

static const struct vfp_field agent_fields[] = {
	AT(TEXT, profile_agent, host),
	AT(REAL, profile_agent, cpu_s),
	AT(REAL, profile_agent, wall_s),
	AT(U64, profile_agent, wakeups),
	AT(U64, profile_agent, drained_bytes),
	AT(U64, profile_agent, records),
	AT(TEXT_OR_NULL, profile_agent, place),
	AT(COUNT, profile_agent, processes),
	AT(FLAG, profile_agent, missing),
	AT(COUNT, profile_agent, clock.state),
	AT(COUNT, profile_agent, clock.jumps),
	AT(I64, profile_agent, clock.from_ns),
	AT(I64, profile_agent, clock.to_ns),
	AT(I64, profile_agent, clock.offset_ns),
	AT(I64, profile_agent, clock.offset_end_ns),
	AT(U64, profile_agent, clock.error_ns),
	AT(U64, profile_agent, clock.error_median_ns),
	AT(U64, profile_agent, clock.round_trip_ns),
	AT(U64, profile_agent, clock.bursts),
	AT(U64, profile_agent, clock.dropped),
	AT(U64, profile_agent, clock.missed),
	AT(U64, profile_agent, clock.checks),
	AT(U64, profile_agent, clock.checks_beyond),
	AT(U64, profile_agent, clock.check_max_ns),
	AT(U64, profile_agent, clock.check_rms_ns),
};

static const struct vfp_field process_fields[] = {
	AT(U32, profile_process, rank),
	AT(I32, profile_process, pid),
	AT(I32, profile_process, parent_pid),
	AT(TEXT_OR_NULL, profile_process, executable),
	AT(END, profile_process, end),
	AT(I32, profile_process, exit_status),
	AT(U32, profile_process, threads),
	AT(REAL, profile_process, started_s),
	AT(REAL, profile_process, runtime_s),
	AT(U64, profile_process, records),
	AT(U64, profile_process, calls),
	AT(U64, profile_process, lost_calls),
	AT(U64, profile_process, blocked_ns),
	AT(U64, profile_process, closed_frames),
	AT(U64, profile_process, open_frames),
	AT(U64, profile_process, ring_bytes),
	AT(TEXT_OR_NULL, profile_process, quarantined),
};

static const struct vfp_field thread_fields[] = {
	AT(U32, profile_thread, rank),
	AT(U32, profile_thread, number),
	AT(U32, profile_thread, parent),
	AT(U32, profile_thread, threads),
	AT(I32, profile_thread, tid),
	AT(TEXT_OR_NULL, profile_thread, name),
	AT(U64, profile_thread, start_ns),
	AT(U64, profile_thread, alive_ns),
	AT(U64, profile_thread, function_ns),
	AT(U64, profile_thread, calls),
	AT(U64, profile_thread, records),
	AT(U64, profile_thread, lost_calls),
	AT(U64, profile_thread, blocked_ns),
	AT(U64, profile_thread, sends),
	AT(U64, profile_thread, receives),
	AT(U64, profile_thread, bytes_sent),
	AT(U64, profile_thread, bytes_received),
	AT(U64, profile_thread, team_ns),
	AT(U64, profile_thread, team_parts),
};

static const struct vfp_field thread_stack_fields[] = {
	AT(U32, profile_thread_stack, thread),
	AT(U32, profile_thread_stack, stack),
	AT(U64, profile_thread_stack, calls),
	AT(U64, profile_thread_stack, lost_calls),
	AT(U64, profile_thread_stack, incl_ns),
	AT(U64, profile_thread_stack, excl_ns),
};

static const struct vfp_field thread_range_fields[] = {
	AT(U32, profile_thread_range, stack),
	AT(COUNT, profile_thread_range, threads),
	AT(U64, profile_thread_range, min_ns),
	AT(U64, profile_thread_range, max_ns),
	AT(U32, profile_thread_range, rank_min),
	AT(U32, profile_thread_range, thread_min),
	AT(U32, profile_thread_range, rank_max),
	AT(U32, profile_thread_range, thread_max),
};

static const struct vfp_field openmp_fields[] = {
	AT(U32, profile_openmp, stack),
	AT(COUNT, profile_openmp, ranks),
	AT(U64, profile_openmp, calls),
	AT(U32, profile_openmp, size_min),
	AT(U32, profile_openmp, size_max),
	AT(COUNT, profile_openmp, threads),
	AT(U64, profile_openmp, wall_ns),
	AT(U64, profile_openmp, busy_ns),
	AT(U64, profile_openmp, average_ns),
	AT(U64, profile_openmp, most_ns),
	AT(U64, profile_openmp, barrier_ns),
	AT(U64, profile_openmp, wait_ns),
	AT(U64, profile_openmp, join_ns),
	AT(U64, profile_openmp, start_ns),
	AT(U64, profile_openmp, tasks),
	AT(U64, profile_openmp, task_ns),
};

static const struct vfp_field openmp_thread_fields[] = {
	AT(U32, profile_openmp_thread, rank),
	AT(U32, profile_openmp_thread, parent),
	AT(U32, profile_openmp_thread, level),
	AT(U32, profile_openmp_thread, number),
	AT(U64, profile_openmp_thread, tasks),
	AT(U64, profile_openmp_thread, ns),
	AT(TEXT, profile_openmp_thread, threads),
	AT(FLAG, profile_openmp_thread, more),
};

static const struct vfp_field messages_fields[] = {
	AT(U32, profile_messages, stack),
	AT(U64, profile_messages, sends),
	AT(U64, profile_messages, receives),
	AT(U64, profile_messages, bytes_sent),
	AT(U64, profile_messages, bytes_received),
	AT(U64, profile_messages, send_ns),
	AT(U64, profile_messages, receive_ns),
	AT(U128, profile_messages, send_bandwidth),
	AT(U128, profile_messages, receive_bandwidth),
};

static const struct vfp_field function_fields[] = {
	AT(U32, profile_function, id),
	AT(U32, profile_function, ranks),
	AT(U32, profile_function, rank_min),
	AT(U32, profile_function, rank_max),
	AT(U64, profile_function, calls),
	AT(U64, profile_function, ns),
	AT(U64, profile_function, min_ns),
	AT(U64, profile_function, max_ns),
	AT(U128, profile_function, sumsq_ns2),
	AT(U64, profile_function, sends),
	AT(U64, profile_function, receives),
	AT(U64, profile_function, bytes_sent),
	AT(U64, profile_function, bytes_received),
};

static const struct vfp_field size_fields[] = {
	AT(U32, profile_size, log2),
	AT(U64, profile_size, sends),
	AT(U64, profile_size, receives),
	AT(U64, profile_size, bytes_sent),
	AT(U64, profile_size, bytes_received),
};

static const struct vfp_field pair_fields[] = {
	AT(U32, profile_pair, from),
	AT(U32, profile_pair, to),
	AT(U64, profile_pair, sends),
	AT(U64, profile_pair, bytes_sent),
	AT(U64, profile_pair, receives),
	AT(U64, profile_pair, bytes_received),
};

static const struct vfp_field matching_fields[] = {
	AT(U64, profile, matching.pairs[0]),
	AT(U64, profile, matching.pairs[1]),
	AT(U64, profile, matching.pairs[2]),
	AT(U64, profile, matching.pairs[3]),
	AT(U64, profile, matching.pairs[4]),
	AT(U64, profile, matching.unmatched_sends[0]),
	AT(U64, profile, matching.unmatched_sends[1]),
	AT(U64, profile, matching.unmatched_sends[2]),
	AT(U64, profile, matching.unmatched_sends[3]),
	AT(U64, profile, matching.unmatched_sends[4]),
	AT(U64, profile, matching.unmatched_receives[0]),
	AT(U64, profile, matching.unmatched_receives[1]),
	AT(U64, profile, matching.unmatched_receives[2]),
	AT(U64, profile, matching.unmatched_receives[3]),
	AT(U64, profile, matching.unmatched_receives[4]),
	AT(U64, profile, matching.not_shipped),
	AT(U64, profile, matching.lost_sends),
	AT(U64, profile, matching.lost_receives),
	AT(U64, profile, matching.late),
	AT(U64, profile, matching.overflow),
	AT(U64, profile, matching.too_long),
	AT(U64, profile, matching.violations),
	AT(U64, profile, matching.worst_ns),
	AT(U32, profile, matching.worst_from),
	AT(U32, profile, matching.worst_to),
};

static const struct vfp_field thread_pair_fields[] = {
	AT(U32, profile_thread_pair, from),
	AT(U32, profile_thread_pair, from_thread),
	AT(U32, profile_thread_pair, to),
	AT(U32, profile_thread_pair, to_thread),
	AT(U64, profile_thread_pair, messages),
	AT(U64, profile_thread_pair, bytes),
};

static const struct vfp_field comm_fields[] = {
	AT(U64, profile_comm, id),
	AT(TEXT_OR_NULL, profile_comm, name),
	AT(U32, profile_comm, kind),
	AT(U32, profile_comm, size),
	AT(U32, profile_comm, remote_size),
	AT(U32, profile_comm, ranks),
	AT(U64, profile_comm, sends),
	AT(U64, profile_comm, receives),
	AT(U64, profile_comm, bytes_sent),
	AT(U64, profile_comm, bytes_received),
	AT(U64, profile_comm, collectives),
	AT(U64, profile_comm, collective_bytes_sent),
	AT(U64, profile_comm, collective_bytes_received),
	AT(U64, profile_comm, collective_ns),
	AT(U64, profile_comm, ambiguous_sends),
	AT(U64, profile_comm, ambiguous_receives),
};

static const struct vfp_field file_fields[] = {
	AT(TEXT, profile_file, name),
	AT(U32, profile_file, ranks),
	AT(U64, profile_file, opens),
	AT(U64, profile_file, reads),
	AT(U64, profile_file, writes),
	AT(U64, profile_file, bytes_read),
	AT(U64, profile_file, bytes_written),
	AT(U64, profile_file, read_ns),
	AT(U64, profile_file, write_ns),
};

static const struct vfp_field place_fields[] = {
	AT(U32, profile_place, first),
	AT(U32, profile_place, last),
	AT(TEXT, profile_place, host),
};

static const struct vfp_field open_fields[] = {
	AT(U32, profile_open, stack),
	AT(U32, profile_open, kind),
	AT(COUNT, profile_open, ranks),
	AT(U32, profile_open, rank_min),
	AT(U32, profile_open, rank_max),
	AT(U64, profile_open, requests),
};

static const struct vfp_field end_fields[] = {
	AT(U32, profile_bad_end, rank),
	AT(I32, profile_bad_end, pid),
	AT(END, profile_bad_end, end),
	AT(I32, profile_bad_end, exit_status),
	AT(U64, profile_bad_end, since_ns),
	AT(I64, profile_bad_end, end_ns),
	AT(U64, profile_bad_end, error_ns),
};

static const struct vfp_field begin_fields[] = {
	AT(FLAG, profile, begin_known),
	AT(I64, profile, begin_ns),
};

static const struct vfp_field counter_fields[] = {
	AT(U32, profile_counter, number),
	AT(U32, profile_counter, source),
	AT(U64, profile_counter, enabled_ns),
	AT(U64, profile_counter, running_ns),
	AT(TEXT, profile_counter, name),
};

static const struct vfp_field count_fields[] = {
	AT(U32, profile_count, stack),
	AT(U32, profile_count, counter),
	AT(U64, profile_count, value),
};

static const struct vfp_field gpu_fields[] = {
	AT(U32, profile_gpu, stack),
	AT(U32, profile_gpu, kind),
	AT(U32, profile_gpu, detail),
	AT(U32, profile_gpu, function),
	AT(COUNT, profile_gpu, ranks),
	AT(U32, profile_gpu, registers),
	AT(U32, profile_gpu, shared_bytes),
	AT(U32, profile_gpu, threads_min),
	AT(U32, profile_gpu, threads_max),
	AT(U64, profile_gpu, calls),
	AT(U64, profile_gpu, ns),
	AT(U64, profile_gpu, min_ns),
	AT(U64, profile_gpu, max_ns),
	AT(U64, profile_gpu, bytes),
	AT(U64, profile_gpu, started),
	AT(U64, profile_gpu, latency_ns),
	AT(U64, profile_gpu, blocks_min),
	AT(U64, profile_gpu, blocks_max),
	AT(TEXT, profile_gpu, name),
	AT(U64, profile_gpu, calls_min),
	AT(U64, profile_gpu, calls_max),
	AT(U32, profile_gpu, grid[0]),
	AT(U32, profile_gpu, grid[1]),
	AT(U32, profile_gpu, grid[2]),
	AT(U32, profile_gpu, block[0]),
	AT(U32, profile_gpu, block[1]),
	AT(U32, profile_gpu, block[2]),
	AT(U32, profile_gpu, local_bytes),
	AT(U32, profile_gpu, occupancy),
	AT(U32, profile_gpu, occupancy_bound),
};

static const struct vfp_field gpu_stream_fields[] = {
	AT(U32, profile_gpu_stream, rank),
	AT(U32, profile_gpu_stream, device),
	AT(U32, profile_gpu_stream, context),
	AT(U32, profile_gpu_stream, stream),
	AT(U64, profile_gpu_stream, calls),
	AT(U64, profile_gpu_stream, kernels),
	AT(U64, profile_gpu_stream, bytes),
	AT(U64, profile_gpu_stream, busy_ns),
	AT(U64, profile_gpu_stream, kernel_ns),
	AT(U64, profile_gpu_stream, copy_ns),
	AT(U64, profile_gpu_stream, span_ns),
	AT(TEXT_OR_NULL, profile_gpu_stream, name),
};

static const struct vfp_field gpu_device_fields[] = {
	AT(U64, profile_gpu_device, uuid[0]),
	AT(U64, profile_gpu_device, uuid[1]),
	AT(U32, profile_gpu_device, rank),
	AT(U32, profile_gpu_device, number),
	AT(COUNT, profile_gpu_device, processes),
	AT(U32, profile_gpu_device, multiprocessors),
	AT(U32, profile_gpu_device, capability),
	AT(U64, profile_gpu_device, memory_bytes),
	AT(U64, profile_gpu_device, calls),
	AT(U64, profile_gpu_device, kernels),
	AT(U64, profile_gpu_device, bytes),
	AT(U64, profile_gpu_device, busy_ns),
	AT(U64, profile_gpu_device, kernel_ns),
	AT(U64, profile_gpu_device, copy_ns),
	AT(U64, profile_gpu_device, sum_ns),
	AT(TEXT_OR_NULL, profile_gpu_device, name),
};

static const struct vfp_field gpu_link_fields[] = {
	AT(U64, profile_gpu_link, from[0]),
	AT(U64, profile_gpu_link, from[1]),
	AT(U64, profile_gpu_link, to[0]),
	AT(U64, profile_gpu_link, to[1]),
	AT(U32, profile_gpu_link, kind),
	AT(U32, profile_gpu_link, detail),
	AT(U64, profile_gpu_link, calls),
	AT(U64, profile_gpu_link, bytes),
	AT(U64, profile_gpu_link, ns),
};

static const struct vfp_field gpu_wait_fields[] = {
	AT(U32, profile_gpu_wait, stack),
	AT(U32, profile_gpu_wait, detail),
	AT(U32, profile_gpu_wait, context),
	AT(U32, profile_gpu_wait, stream),
	AT(COUNT, profile_gpu_wait, ranks),
	AT(U64, profile_gpu_wait, calls),
	AT(U64, profile_gpu_wait, ns),
	AT(U64, profile_gpu_wait, max_ns),
	AT(TEXT, profile_gpu_wait, name),
};

static const struct vfp_field user_counter_fields[] = {
	AT(U32, profile_user_counter, rank),
	AT(FLAG, profile_user_counter, real),
	AT(U64, profile_user_counter, values),
	AT(U64, profile_user_counter, min),
	AT(U64, profile_user_counter, max),
	AT(U64, profile_user_counter, last),
	AT(U64, profile_user_counter, last_ns),
	AT(U64, profile_user_counter, sum),
	AT(TEXT, profile_user_counter, name),
};

static const struct vfp_field openacc_fields[] = {
	AT(U32, profile_openacc, stack),
	AT(U32, profile_openacc, event),
	AT(U32, profile_openacc, parent),
	AT(COUNT, profile_openacc, ranks),
	AT(U64, profile_openacc, calls),
	AT(U64, profile_openacc, ns),
	AT(U64, profile_openacc, own_ns),
	AT(U64, profile_openacc, bytes),
	AT(U64, profile_openacc, calls_min),
	AT(U64, profile_openacc, calls_max),
	AT(TEXT, profile_openacc, text),
};

static const struct vfp_field thread_count_fields[] = {
	AT(U32, profile_thread_count, thread),
	AT(U32, profile_thread_count, stack),
	AT(U32, profile_thread_count, counter),
	AT(U64, profile_thread_count, value),
};

static const struct vfp_field pair_unit_fields[] = {
	AT(U32, profile, pair_ranks),
};

static const struct vfp_field switched_fields[] = {
	AT(TEXT, profile_switched, name),
	AT(U64, profile_switched, from_ns),
	AT(U64, profile_switched, calls),
	AT(COUNT, profile_switched, processes),
};

const struct vfp_section vfp_sections[VFP_N_SECTIONS] = {
	{ "job     ", job_fields, ARRAY_SIZE(job_fields), 0, 0, 0, false },
	LIST("programs", text_fields, char *, executables),
	LIST("names   ", text_fields, char *, names),
	LIST("stacks  ", stack_fields, struct profile_stack, stacks),
	LIST("agents  ", agent_fields, struct profile_agent, agents),
	LIST("dead    ", process_fields, struct profile_process, dead),
	LIST("process ", process_fields, struct profile_process, processes),
	LIST("threads ", thread_fields, struct profile_thread, each),
	LIST("thrstack", thread_stack_fields, struct profile_thread_stack, thread_stacks),
	LIST("thrrange", thread_range_fields, struct profile_thread_range, thread_ranges),
	LIST("openmp  ", openmp_fields, struct profile_openmp, openmp),
	LIST("ompthrds", openmp_thread_fields, struct profile_openmp_thread, openmp_threads),
	LIST("messages", messages_fields, struct profile_messages, messages),
	LIST("function", function_fields, struct profile_function, functions),
	LIST("sizes   ", size_fields, struct profile_size, sizes),
	LIST("pairs   ", pair_fields, struct profile_pair, pairs),
	LIST("comms   ", comm_fields, struct profile_comm, comms),
	LIST("files   ", file_fields, struct profile_file, files),
	LIST("places  ", place_fields, struct profile_place, places),
	{ "matching", matching_fields, ARRAY_SIZE(matching_fields), 0, 0, 0, false },
	LIST("thrpairs", thread_pair_fields, struct profile_thread_pair, thread_pairs),
	LATER("counters", counter_fields, struct profile_counter, counters),
	LATER("counts  ", count_fields, struct profile_count, counts),
	LATER("gpu     ", gpu_fields, struct profile_gpu, gpu),
	LATER("gpustrms", gpu_stream_fields, struct profile_gpu_stream, gpu_streams),
	LATER("thrcount", thread_count_fields, struct profile_thread_count, thread_counts),
	LATER("switched", switched_fields, struct profile_switched, switched),
	LATER("gpudevs ", gpu_device_fields, struct profile_gpu_device, gpu_devices),
	LATER("gpulinks", gpu_link_fields, struct profile_gpu_link, gpu_links),
	LATER("gpuwaits", gpu_wait_fields, struct profile_gpu_wait, gpu_waits),
	{ "pairunit", pair_unit_fields, ARRAY_SIZE(pair_unit_fields), 0, 0, 0, true },
	LATER("usercnts", user_counter_fields, struct profile_user_counter, user_counters),
	LATER("openacc ", openacc_fields, struct profile_openacc, openacc),
	LATER("requests", open_fields, struct profile_open, open),
	LATER("ends    ", end_fields, struct profile_bad_end, ends),
	{ "begin   ", begin_fields, ARRAY_SIZE(begin_fields), 0, 0, 0, true },
	LIST("warnings", text_fields, char *, warnings),
};
/* clang-format on */

_Static_assert(sizeof(struct profile_stack) == 112, "a new member needs a row above");
_Static_assert(sizeof(struct profile_agent) == 184, "a new member needs a row above");
_Static_assert(sizeof(struct profile_process) == 120, "a new member needs a row above");
_Static_assert(sizeof(struct profile_thread) == 136, "a new member needs a row above");
_Static_assert(sizeof(struct profile_thread_stack) == 40, "a new member needs a row above");
_Static_assert(sizeof(struct profile_thread_range) == 40, "a new member needs a row above");
_Static_assert(sizeof(struct profile_messages) == 96, "a new member needs a row above");
_Static_assert(sizeof(struct profile_function) == 96, "a new member needs a row above");
_Static_assert(sizeof(struct profile_size) == 40, "a new member needs a row above");
_Static_assert(sizeof(struct profile_pair) == 40, "a new member needs a row above");
_Static_assert(sizeof(struct profile_comm) == 112, "a new member needs a row above");
_Static_assert(sizeof(struct profile_file) == 72, "a new member needs a row above");
_Static_assert(sizeof(struct profile_place) == 16, "a new member needs a row above");
_Static_assert(sizeof(struct profile_openmp) == 112, "a new member needs a row above");
_Static_assert(sizeof(struct profile_openmp_thread) == 48, "a new member needs a row above");
_Static_assert(sizeof(struct profile_thread_pair) == 32, "a new member needs a row above");
_Static_assert(sizeof(struct profile_matching) == 192, "a new member needs a row above");
_Static_assert(sizeof(struct profile_counter) == 32, "a new member needs a row above");
_Static_assert(sizeof(struct profile_count) == 16, "a new member needs a row above");
_Static_assert(sizeof(struct profile_gpu) == 176, "a new member needs a row above");
_Static_assert(sizeof(struct profile_gpu_device) == 112, "a new member needs a row above");
_Static_assert(sizeof(struct profile_gpu_link) == 64, "a new member needs a row above");
_Static_assert(sizeof(struct profile_gpu_wait) == 56, "a new member needs a row above");
_Static_assert(sizeof(struct profile_gpu_stream) == 80, "a new member needs a row above");
_Static_assert(sizeof(struct profile_user_counter) == 64, "a new member needs a row above");
_Static_assert(sizeof(struct profile_openacc) == 72, "a new member needs a row above");
_Static_assert(sizeof(struct profile_switched) == 32, "a new member needs a row above");
_Static_assert(sizeof(struct profile_thread_count) == 24, "a new member needs a row above");
_Static_assert(sizeof(struct profile_open) == 32, "a new member needs a row above");
_Static_assert(sizeof(struct profile_bad_end) == 40, "a new member needs a row above");
_Static_assert(sizeof(struct profile) == 896, "a new member needs a row or a list above");
