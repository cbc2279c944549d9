/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/definitions.h"

#define FIELD(structure, member, ...)                                                              \
	{                                                                                          \
		.offset = offsetof(struct structure, member), .how = __VA_ARGS__                   \
	}
#define PROCESS(member, how)	FIELD(vfd_process, member, FIELD_##how)
#define THREAD(member, how)	FIELD(vfd_thread, member, FIELD_##how)
#define FUNCTION(member, ...)	FIELD(vfd_function, member, FIELD_##__VA_ARGS__)
#define COMM(member, ...)	FIELD(vfd_comm, member, FIELD_##__VA_ARGS__)
#define OBJECT(member, ...)	FIELD(vfd_object, member, FIELD_##__VA_ARGS__)
#define COUNTER(member, ...)	FIELD(vfd_counter, member, FIELD_##__VA_ARGS__)
#define OBSERVABLE(member, how) FIELD(vfd_observable, member, FIELD_##how)

/* Fields are only ever appended. */
/* clang-format off */
const struct vfd_definition_row vfd_definitions[VFD_DEFINITIONS] = {
	[VFD_DEFINE_PROCESS] = {3, {
		PROCESS(number, NUMBER), PROCESS(rank, PLUS_ONE), PROCESS(pid, U32),
		PROCESS(parent, PLUS_ONE), PROCESS(executable, TEXT), PROCESS(size, U32),
		PROCESS(job, U64), PROCESS(start, TIME)}},
	[VFD_DEFINE_PROCESS_END] = {2, {
		PROCESS(end, TIME), PROCESS(how, U32), PROCESS(exit_status, PLUS_ONE),
		PROCESS(ended, TRUE)}},
	[VFD_DEFINE_RANK] = {2, {
		PROCESS(rank, PLUS_ONE), PROCESS(size, U32), PROCESS(job, U64)}},
	[VFD_DEFINE_THREAD] = {2, {
		THREAD(track, NUMBER), THREAD(process, STRICT), THREAD(number, STRICT),
		THREAD(creator, PLUS_ONE), THREAD(tid, U32), THREAD(name, TEXT),
		THREAD(start, TIME)}},
	[VFD_DEFINE_THREAD_NAME] = {1, {THREAD(name, TEXT)}},
	[VFD_DEFINE_THREAD_END] = {1, {THREAD(end, TIME)}},
	[VFD_DEFINE_OPENMP] = {1, {
		THREAD(openmp, TRUE), THREAD(openmp_level, U32), THREAD(openmp_number, U32)}},
	[VFD_DEFINE_FUNCTION] = {2, {
		FUNCTION(number, NUMBER), FUNCTION(process, PLUS_ONE),
		FUNCTION(kind, KIND, VFD_FUNCTION_OTHER, VFD_FUNCTION_OTHER),
		FUNCTION(precise, BIT), FUNCTION(name, TEXT), FUNCTION(module, TEXT),
		FUNCTION(build_id, BUILD_ID), FUNCTION(address, U64), FUNCTION(index, U32)}},
	[VFD_DEFINE_NAME] = {1, {
		FUNCTION(name, NEW_TEXT), FUNCTION(precise, BIT)}},
	/* then the ranks: first, stride, count, all three zigzag */
	[VFD_DEFINE_COMM] = {5, {
		COMM(number, NUMBER), COMM(id, U64),
		COMM(kind, KIND, WIRE_COMM_KINDS, WIRE_COMM_UNKNOWN), COMM(name, TEXT),
		COMM(size, STRICT), COMM(remote_size, STRICT)}},
	[VFD_DEFINE_OBJECT] = {1, {
		OBJECT(kind, KIND, WIRE_OBJECT_FILE + 1, VFD_REFUSED), OBJECT(name, TEXT),
		OBJECT(comm, U32)}},
	[VFD_DEFINE_COUNTER] = {2, {
		COUNTER(number, NUMBER), COUNTER(process, PLUS_ONE),
		COUNTER(kind, KIND, VFD_COUNTER_KINDS, VFD_COUNTER_INTEGER),
		COUNTER(name, TEXT), COUNTER(symbol, TEXT), COUNTER(unit, TEXT),
		COUNTER(source, TEXT)}},
	[VFD_DEFINE_OBSERVABLE] = {2, {
		OBSERVABLE(number, NUMBER), OBSERVABLE(name, TEXT), OBSERVABLE(formula, TEXT),
		OBSERVABLE(unit, TEXT)}},
	/* of the process with the number; then the ranks, as above */
	[VFD_DEFINE_NEIGHBOURS] = {2, {
		FIELD(vfd_neighbours, comm, FIELD_U32), FIELD(vfd_neighbours, received, FIELD_BIT)}},
	[VFD_DEFINE_SOURCE] = {2, {FUNCTION(file, TEXT), FUNCTION(line, U32)}},
	[VFD_DEFINE_LINK] = {2, {
		COMM(link, U64), COMM(link_job, U64), COMM(spawn, U64), COMM(is_child, BIT)}},
	[VFD_DEFINE_ROUND] = {1, {FIELD(vfd_round, begin, FIELD_TIME)}},
};
