/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rows of the fields of records, in the order in which they stand in a file (vftr-vfp(5)):
 * those of lists.def, and of structs in profile.h, where a new member needs a row here, at the
 * end of its record's.
 */
#include "nodeagent/profile/schema.h"

#include "nodeagent/base/util.h"
#include "nodeagent/profile/fold.h"
#include "nodeagent/profile/profile.h"

/* clang-format off */
#define F(kind, type, member, role, ref) { kind, role, ref, offsetof(struct type, member) }

static const struct profile_field text_fields[] = {{ TEXT, SELF, PLAIN, 0 }};

static const struct profile_field job_fields[] = {
	F(TEXT_OR_NULL, profile, application, SELF, PLAIN),
	F(TEXT_OR_NULL, profile, executable, SELF, PLAIN),
	F(I64, profile, start_s, SELF, PLAIN),
	F(I64, profile, end_s, MAX, PLAIN),
	F(REAL, profile, runtime_s, MAX, PLAIN),
	F(COUNT, profile, world_size, MAX, PLAIN),
	F(COUNT, profile, ranks, SIZE, PLAIN),
	F(COUNT, profile, unranked, SIZE, PLAIN),
	F(COUNT, profile, threads, SIZE, PLAIN),
	F(U64, profile, records, SUM, PLAIN),
	F(U64, profile, calls, SUM, PLAIN),
	F(U64, profile, lost_calls, SUM, PLAIN),
	F(U64, profile, blocked_ns, SUM, PLAIN),
	F(U64, profile, hook_ns_total, SUM, PLAIN),
	F(U64, profile, lost_messages, SUM, PLAIN),
	F(U64, profile, open_requests, SUM, PLAIN),
	F(U64, profile, ring_bytes, SIZE, PLAIN),
	F(U64, profile, ambiguous_sends, SUM, PLAIN),
	F(U64, profile, ambiguous_receives, SUM, PLAIN),
	F(U64, profile, lost_processes, SIZE, PLAIN),
};

static const struct profile_field stack_fields[] = {
	F(U64, profile_stack, hash, SELF, PLAIN),
	F(U32, profile_stack, parent, SELF, PLAIN),
	F(U32, profile_stack, name, SELF, PLAIN),
	F(U64, profile_stack, calls, SUM, PLAIN),
	F(U64, profile_stack, lost_calls, SUM, PLAIN),
	F(U64, profile_stack, incl_ns, SUM, PLAIN),
	F(U64, profile_stack, excl_ns, SUM, PLAIN),
	F(U32, profile_stack, ranks, SIZE, PLAIN),
	F(U32, profile_stack, rank_min, SELF, RANK),
	F(U32, profile_stack, rank_max, SELF, RANK),
	F(U64, profile_stack, excl_min_ns, SELF, PLAIN),
	F(U64, profile_stack, excl_max_ns, SELF, PLAIN),
	F(U128, profile_stack, excl_sumsq_ns2, SUM, PLAIN),
	F(FLAG, profile_stack, estimated, MAX, PLAIN),
};

static const struct profile_field agent_fields[] = {
	F(TEXT, profile_agent, host, SELF, PLAIN),
	F(REAL, profile_agent, cpu_s, SELF, PLAIN),
	F(REAL, profile_agent, wall_s, SELF, PLAIN),
	F(U64, profile_agent, wakeups, SELF, PLAIN),
	F(U64, profile_agent, drained_bytes, SELF, PLAIN),
	F(U64, profile_agent, records, SELF, PLAIN),
	F(TEXT_OR_NULL, profile_agent, affinity, SELF, PLAIN),
	F(COUNT, profile_agent, processes, SELF, PLAIN),
	F(FLAG, profile_agent, missing, SELF, PLAIN),
	F(COUNT, profile_agent, clock.state, SELF, PLAIN),
	F(COUNT, profile_agent, clock.jumps, SELF, PLAIN),
	F(I64, profile_agent, clock.from_ns, SELF, PLAIN),
	F(I64, profile_agent, clock.to_ns, SELF, PLAIN),
	F(I64, profile_agent, clock.offset_ns, SELF, PLAIN),
	F(I64, profile_agent, clock.offset_end_ns, SELF, PLAIN),
	F(U64, profile_agent, clock.error_ns, SELF, PLAIN),
	F(U64, profile_agent, clock.error_median_ns, SELF, PLAIN),
	F(U64, profile_agent, clock.round_trip_ns, SELF, PLAIN),
	F(U64, profile_agent, clock.bursts, SELF, PLAIN),
	F(U64, profile_agent, clock.dropped, SELF, PLAIN),
	F(U64, profile_agent, clock.missed, SELF, PLAIN),
	F(U64, profile_agent, clock.checks, SELF, PLAIN),
	F(U64, profile_agent, clock.checks_beyond, SELF, PLAIN),
	F(U64, profile_agent, clock.check_max_ns, SELF, PLAIN),
	F(U64, profile_agent, clock.check_rms_ns, SELF, PLAIN),
};

static const struct profile_field process_fields[] = {
	F(U32, profile_process, rank, SELF, RANK),
	F(I32, profile_process, pid, SELF, PLAIN),
	F(I32, profile_process, parent_pid, SELF, PLAIN),
	F(TEXT_OR_NULL, profile_process, executable, SELF, PLAIN),
	F(END, profile_process, end, SELF, PLAIN),
	F(I32, profile_process, exit_status, SELF, PLAIN),
	F(U32, profile_process, threads, SELF, PLAIN),
	F(REAL, profile_process, started_s, SELF, PLAIN),
	F(REAL, profile_process, runtime_s, SELF, PLAIN),
	F(U64, profile_process, records, SUM, PLAIN),
	F(U64, profile_process, calls, SUM, PLAIN),
	F(U64, profile_process, lost_calls, SUM, PLAIN),
	F(U64, profile_process, blocked_ns, SUM, PLAIN),
	F(U64, profile_process, closed_frames, SELF, PLAIN),
	F(U64, profile_process, open_frames, SELF, PLAIN),
	F(U64, profile_process, ring_bytes, SELF, PLAIN),
	F(TEXT_OR_NULL, profile_process, quarantined, SELF, PLAIN),
};

static const struct profile_field thread_fields[] = {
	F(U32, profile_thread, rank, SELF, RANK),
	F(U32, profile_thread, number, SELF, PLAIN),
	F(U32, profile_thread, parent, SELF, PLAIN),
	F(U32, profile_thread, threads, SELF, PLAIN),
	F(I32, profile_thread, tid, SELF, PLAIN),
	F(TEXT_OR_NULL, profile_thread, name, SELF, PLAIN),
	F(U64, profile_thread, start_ns, SELF, PLAIN),
	F(U64, profile_thread, alive_ns, SUM, PLAIN),
	F(U64, profile_thread, function_ns, SUM, PLAIN),
	F(U64, profile_thread, calls, SUM, PLAIN),
	F(U64, profile_thread, records, SUM, PLAIN),
	F(U64, profile_thread, lost_calls, SUM, PLAIN),
	F(U64, profile_thread, blocked_ns, SUM, PLAIN),
	F(U64, profile_thread, sends, SUM, PLAIN),
	F(U64, profile_thread, receives, SUM, PLAIN),
	F(U64, profile_thread, bytes_sent, SUM, PLAIN),
	F(U64, profile_thread, bytes_received, SUM, PLAIN),
	F(U64, profile_thread, team_ns, SUM, PLAIN),
	F(U64, profile_thread, team_parts, SUM, PLAIN),
};

static const struct profile_field thread_stack_fields[] = {
	F(U32, profile_thread_stack, thread, SELF, PLAIN),
	F(U32, profile_thread_stack, stack, SELF, PLAIN),
	F(U64, profile_thread_stack, calls, SUM, PLAIN),
	F(U64, profile_thread_stack, lost_calls, SUM, PLAIN),
	F(U64, profile_thread_stack, incl_ns, SUM, PLAIN),
	F(U64, profile_thread_stack, excl_ns, SUM, PLAIN),
};

static const struct profile_field thread_range_fields[] = {
	F(U32, profile_thread_range, stack, KEY, STACK),
	F(COUNT, profile_thread_range, threads, SIZE, PLAIN),
	F(U64, profile_thread_range, min_ns, SELF, PLAIN),
	F(U64, profile_thread_range, max_ns, SELF, PLAIN),
	F(U32, profile_thread_range, rank_min, SELF, RANK),
	F(U32, profile_thread_range, thread_min, SELF, PLAIN),
	F(U32, profile_thread_range, rank_max, SELF, RANK),
	F(U32, profile_thread_range, thread_max, SELF, PLAIN),
};

static const struct profile_field openmp_fields[] = {
	F(U32, profile_openmp, stack, KEY, STACK),
	F(COUNT, profile_openmp, ranks, SIZE, PLAIN),
	F(U64, profile_openmp, calls, SUM, PLAIN),
	F(U32, profile_openmp, size_min, SELF, PLAIN),
	F(U32, profile_openmp, size_max, MAX, PLAIN),
	F(COUNT, profile_openmp, threads, SIZE, PLAIN),
	F(U64, profile_openmp, wall_ns, SUM, PLAIN),
	F(U64, profile_openmp, busy_ns, SUM, PLAIN),
	F(U64, profile_openmp, average_ns, SUM, PLAIN),
	F(U64, profile_openmp, most_ns, SUM, PLAIN),
	F(U64, profile_openmp, barrier_ns, SUM, PLAIN),
	F(U64, profile_openmp, wait_ns, SUM, PLAIN),
	F(U64, profile_openmp, join_ns, SUM, PLAIN),
	F(U64, profile_openmp, start_ns, SUM, PLAIN),
	F(U64, profile_openmp, tasks, SUM, PLAIN),
	F(U64, profile_openmp, task_ns, SUM, PLAIN),
};

static const struct profile_field openmp_thread_fields[] = {
	F(U32, profile_openmp_thread, rank, SELF, RANK),
	F(U32, profile_openmp_thread, parent, SELF, PLAIN),
	F(U32, profile_openmp_thread, level, SELF, PLAIN),
	F(U32, profile_openmp_thread, number, SELF, PLAIN),
	F(U64, profile_openmp_thread, tasks, SUM, PLAIN),
	F(U64, profile_openmp_thread, ns, SUM, PLAIN),
	F(TEXT, profile_openmp_thread, threads, SELF, PLAIN),
	F(FLAG, profile_openmp_thread, more, SELF, PLAIN),
};

static const struct profile_field messages_fields[] = {
	F(U32, profile_messages, stack, KEY, STACK),
	F(U64, profile_messages, sends, SUM, PLAIN),
	F(U64, profile_messages, receives, SUM, PLAIN),
	F(U64, profile_messages, bytes_sent, SUM, PLAIN),
	F(U64, profile_messages, bytes_received, SUM, PLAIN),
	F(U64, profile_messages, send_ns, SUM, PLAIN),
	F(U64, profile_messages, receive_ns, SUM, PLAIN),
	F(U128, profile_messages, send_bandwidth, SUM, PLAIN),
	F(U128, profile_messages, receive_bandwidth, SUM, PLAIN),
};

static const struct profile_field function_fields[] = {
	F(U32, profile_function, id, KEY, PLAIN),
	F(U32, profile_function, ranks, SIZE, PLAIN),
	F(U32, profile_function, rank_min, SELF, RANK),
	F(U32, profile_function, rank_max, SELF, RANK),
	F(U64, profile_function, calls, SUM, PLAIN),
	F(U64, profile_function, ns, SUM, PLAIN),
	F(U64, profile_function, min_ns, SELF, PLAIN),
	F(U64, profile_function, max_ns, SELF, PLAIN),
	F(U128, profile_function, sumsq_ns2, SUM, PLAIN),
	F(U64, profile_function, sends, SUM, PLAIN),
	F(U64, profile_function, receives, SUM, PLAIN),
	F(U64, profile_function, bytes_sent, SUM, PLAIN),
	F(U64, profile_function, bytes_received, SUM, PLAIN),
};

static const struct profile_field size_fields[] = {
	F(U32, profile_size, log2, KEY, PLAIN),
	F(U64, profile_size, sends, SUM, PLAIN),
	F(U64, profile_size, receives, SUM, PLAIN),
	F(U64, profile_size, bytes_sent, SUM, PLAIN),
	F(U64, profile_size, bytes_received, SUM, PLAIN),
};

static const struct profile_field pair_fields[] = {
	F(U32, profile_pair, from, KEY, ANY_RANK),
	F(U32, profile_pair, to, KEY, ANY_RANK),
	F(U64, profile_pair, sends, SUM, PLAIN),
	F(U64, profile_pair, bytes_sent, SUM, PLAIN),
	F(U64, profile_pair, receives, SUM, PLAIN),
	F(U64, profile_pair, bytes_received, SUM, PLAIN),
};

static const struct profile_field matching_fields[] = {
	F(U64, profile, matching.pairs[0], SUM, PLAIN),
	F(U64, profile, matching.pairs[1], SUM, PLAIN),
	F(U64, profile, matching.pairs[2], SUM, PLAIN),
	F(U64, profile, matching.pairs[3], SUM, PLAIN),
	F(U64, profile, matching.pairs[4], SUM, PLAIN),
	F(U64, profile, matching.unmatched_sends[0], SUM, PLAIN),
	F(U64, profile, matching.unmatched_sends[1], SUM, PLAIN),
	F(U64, profile, matching.unmatched_sends[2], SUM, PLAIN),
	F(U64, profile, matching.unmatched_sends[3], SUM, PLAIN),
	F(U64, profile, matching.unmatched_sends[4], SUM, PLAIN),
	F(U64, profile, matching.unmatched_receives[0], SUM, PLAIN),
	F(U64, profile, matching.unmatched_receives[1], SUM, PLAIN),
	F(U64, profile, matching.unmatched_receives[2], SUM, PLAIN),
	F(U64, profile, matching.unmatched_receives[3], SUM, PLAIN),
	F(U64, profile, matching.unmatched_receives[4], SUM, PLAIN),
	F(U64, profile, matching.not_shipped, SUM, PLAIN),
	F(U64, profile, matching.lost_sends, SUM, PLAIN),
	F(U64, profile, matching.lost_receives, SUM, PLAIN),
	F(U64, profile, matching.late, SUM, PLAIN),
	F(U64, profile, matching.overflow, SUM, PLAIN),
	F(U64, profile, matching.too_long, SUM, PLAIN),
	F(U64, profile, matching.violations, SUM, PLAIN),
	F(U64, profile, matching.worst_ns, SELF, PLAIN),
	F(U32, profile, matching.worst_from, SELF, ANY_RANK),
	F(U32, profile, matching.worst_to, SELF, ANY_RANK),
};

static const struct profile_field thread_pair_fields[] = {
	F(U32, profile_thread_pair, from, KEY, ANY_RANK),
	F(U32, profile_thread_pair, from_thread, KEY, PLAIN),
	F(U32, profile_thread_pair, to, KEY, ANY_RANK),
	F(U32, profile_thread_pair, to_thread, KEY, PLAIN),
	F(U64, profile_thread_pair, messages, SUM, PLAIN),
	F(U64, profile_thread_pair, bytes, SUM, PLAIN),
};

static const struct profile_field comm_fields[] = {
	F(U64, profile_comm, id, KEY, PLAIN),
	F(TEXT_OR_NULL, profile_comm, name, JOIN, PLAIN),
	F(U32, profile_comm, kind, MIN, PLAIN),
	F(U32, profile_comm, size, SELF, PLAIN),
	F(U32, profile_comm, remote_size, SELF, PLAIN),
	F(U32, profile_comm, ranks, SIZE, PLAIN),
	F(U64, profile_comm, sends, SUM, PLAIN),
	F(U64, profile_comm, receives, SUM, PLAIN),
	F(U64, profile_comm, bytes_sent, SUM, PLAIN),
	F(U64, profile_comm, bytes_received, SUM, PLAIN),
	F(U64, profile_comm, collectives, SUM, PLAIN),
	F(U64, profile_comm, collective_bytes_sent, SUM, PLAIN),
	F(U64, profile_comm, collective_bytes_received, SUM, PLAIN),
	F(U64, profile_comm, collective_ns, SUM, PLAIN),
	F(U64, profile_comm, ambiguous_sends, SUM, PLAIN),
	F(U64, profile_comm, ambiguous_receives, SUM, PLAIN),
};

static const struct profile_field file_fields[] = {
	F(TEXT, profile_file, name, KEY, PLAIN),
	F(U32, profile_file, ranks, SIZE, PLAIN),
	F(U64, profile_file, opens, SUM, PLAIN),
	F(U64, profile_file, reads, SUM, PLAIN),
	F(U64, profile_file, writes, SUM, PLAIN),
	F(U64, profile_file, bytes_read, SUM, PLAIN),
	F(U64, profile_file, bytes_written, SUM, PLAIN),
	F(U64, profile_file, read_ns, SUM, PLAIN),
	F(U64, profile_file, write_ns, SUM, PLAIN),
};

static const struct profile_field rank_range_fields[] = {
	F(U32, profile_rank_range, first, KEY, RANK),
	F(U32, profile_rank_range, last, SELF, RANK),
	F(TEXT, profile_rank_range, host, JOIN, PLAIN),
};

static const struct profile_field begin_fields[] = {
	F(FLAG, profile, begin_known, SELF, PLAIN),
	F(I64, profile, begin_ns, SELF, PLAIN),
};

static const struct profile_field gpu_fields[] = {
	F(U32, profile_gpu, stack, KEY, STACK),
	F(U32, profile_gpu, kind, KEY, PLAIN),
	F(U32, profile_gpu, detail, MAX, PLAIN),
	F(U32, profile_gpu, function, MAX, PLAIN),
	F(COUNT, profile_gpu, ranks, SIZE, PLAIN),
	F(U32, profile_gpu, registers, MAX, PLAIN),
	F(U32, profile_gpu, shared_bytes, MAX, PLAIN),
	F(U32, profile_gpu, threads_min, SELF, PLAIN),
	F(U32, profile_gpu, threads_max, MAX, PLAIN),
	F(U64, profile_gpu, calls, SUM, PLAIN),
	F(U64, profile_gpu, ns, SUM, PLAIN),
	F(U64, profile_gpu, min_ns, SELF, PLAIN),
	F(U64, profile_gpu, max_ns, MAX, PLAIN),
	F(U64, profile_gpu, bytes, SUM, PLAIN),
	F(U64, profile_gpu, started, SUM, PLAIN),
	F(U64, profile_gpu, latency_ns, SUM, PLAIN),
	F(U64, profile_gpu, blocks_min, SELF, PLAIN),
	F(U64, profile_gpu, blocks_max, MAX, PLAIN),
	F(TEXT, profile_gpu, name, KEY, PLAIN),
	F(U64, profile_gpu, calls_min, SELF, PLAIN),
	F(U64, profile_gpu, calls_max, MAX, PLAIN),
	F(U32, profile_gpu, grid[0], SELF, PLAIN),
	F(U32, profile_gpu, grid[1], SELF, PLAIN),
	F(U32, profile_gpu, grid[2], SELF, PLAIN),
	F(U32, profile_gpu, block[0], SELF, PLAIN),
	F(U32, profile_gpu, block[1], SELF, PLAIN),
	F(U32, profile_gpu, block[2], SELF, PLAIN),
	F(U32, profile_gpu, local_bytes, SELF, PLAIN),
	F(U32, profile_gpu, occupancy, SELF, PLAIN),
	F(U32, profile_gpu, occupancy_bound, SELF, PLAIN),
};

static const struct profile_field gpu_stream_fields[] = {
	F(U32, profile_gpu_stream, rank, KEY, RANK),
	F(U32, profile_gpu_stream, device, KEY, PLAIN),
	F(U32, profile_gpu_stream, context, KEY, PLAIN),
	F(U32, profile_gpu_stream, stream, KEY, PLAIN),
	F(U64, profile_gpu_stream, calls, SUM, PLAIN),
	F(U64, profile_gpu_stream, kernels, SUM, PLAIN),
	F(U64, profile_gpu_stream, bytes, SUM, PLAIN),
	F(U64, profile_gpu_stream, busy_ns, SUM, PLAIN),
	F(U64, profile_gpu_stream, kernel_ns, SUM, PLAIN),
	F(U64, profile_gpu_stream, copy_ns, SUM, PLAIN),
	F(U64, profile_gpu_stream, span_ns, SPAN, PLAIN),
	F(TEXT_OR_NULL, profile_gpu_stream, name, JOIN, PLAIN),
};

static const struct profile_field gpu_device_fields[] = {
	F(U64, profile_gpu_device, uuid[0], KEY, PLAIN),
	F(U64, profile_gpu_device, uuid[1], KEY, PLAIN),
	F(U32, profile_gpu_device, rank, SELF, RANK),
	F(U32, profile_gpu_device, number, SELF, PLAIN),
	F(COUNT, profile_gpu_device, processes, SIZE, PLAIN),
	F(U32, profile_gpu_device, multiprocessors, MAX, PLAIN),
	F(U32, profile_gpu_device, capability, MAX, PLAIN),
	F(U64, profile_gpu_device, memory_bytes, MAX, PLAIN),
	F(U64, profile_gpu_device, calls, SUM, PLAIN),
	F(U64, profile_gpu_device, kernels, SUM, PLAIN),
	F(U64, profile_gpu_device, bytes, SUM, PLAIN),
	F(U64, profile_gpu_device, busy_ns, SUM, PLAIN),
	F(U64, profile_gpu_device, kernel_ns, SUM, PLAIN),
	F(U64, profile_gpu_device, copy_ns, SUM, PLAIN),
	F(U64, profile_gpu_device, sum_ns, SUM, PLAIN),
	F(TEXT_OR_NULL, profile_gpu_device, name, JOIN, PLAIN),
};

static const struct profile_field gpu_link_fields[] = {
	F(U64, profile_gpu_link, from[0], KEY, PLAIN),
	F(U64, profile_gpu_link, from[1], KEY, PLAIN),
	F(U64, profile_gpu_link, to[0], KEY, PLAIN),
	F(U64, profile_gpu_link, to[1], KEY, PLAIN),
	F(U32, profile_gpu_link, kind, KEY, PLAIN),
	F(U32, profile_gpu_link, detail, KEY, PLAIN),
	F(U64, profile_gpu_link, calls, SUM, PLAIN),
	F(U64, profile_gpu_link, bytes, SUM, PLAIN),
	F(U64, profile_gpu_link, ns, SUM, PLAIN),
};

static const struct profile_field pair_unit_fields[] = {
	F(U32, profile, pair_ranks, SELF, PLAIN),
};

#define PROFILE_FIELD(kind, record, member, role, ref) F(kind, profile_##record, member, role, ref),
#define PROFILE_RECORD(record, ...) \
	static const struct profile_field record##_fields[] = { __VA_ARGS__ };
#include "nodeagent/profile/lists.def"

#define PROFILE_PART(NAME, tag, record, presence, fold, check) \
	{ tag, record##_fields, ARRAY_SIZE(record##_fields), 0, 0, 0, presence, OWN, \
	  fold, check, NULL },
#define ARRAY(tag, fields, type, member, presence, rest, fold, check, wrong) \
	{ tag, fields, ARRAY_SIZE(fields), sizeof(type), \
	  offsetof(struct profile, n_##member), offsetof(struct profile, member), \
	  presence, rest, fold, check, wrong },
#define PROFILE_TEXTS(NAME, tag, member) \
	ARRAY(tag, text_fields, char *, member, ALWAYS, OWN, NULL, NULL, NULL)
#define PROFILE_LIST(NAME, tag, record, member, ...) \
	ARRAY(tag, record##_fields, struct profile_##record, member, __VA_ARGS__)

const struct profile_schema profile_schema[PROFILE_LISTS] = {
#include "nodeagent/profile/lists.def"
};
/* clang-format on */
