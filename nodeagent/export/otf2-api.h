/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of OTF2's interface that the exporter calls. The library is loaded when
 * this format is wanted, and is not needed to build, so this header has its
 * prototypes and constants, those of OTF2 3. A test compares them with OTF2's
 * headers.
 */
#ifndef VFTR_NODEAGENT_EXPORT_OTF2_API_H
#define VFTR_NODEAGENT_EXPORT_OTF2_API_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

struct OTF2_Archive_struct;
struct OTF2_EvtWriter_struct;
struct OTF2_DefWriter_struct;
struct OTF2_GlobalDefWriter_struct;
struct OTF2_AttributeList_struct;
struct OTF2_FlushCallbacks;
struct OTF2_MemoryCallbacks;
union OTF2_MetricValue_union; /* 64 bits, as the type of the value says */

#define OTF2_ARCHIVE struct OTF2_Archive_struct *
#define OTF2_EVENTS  struct OTF2_EvtWriter_struct *
#define OTF2_GLOBAL  struct OTF2_GlobalDefWriter_struct *
#define OTF2_EVENT   OTF2_EVENTS, struct OTF2_AttributeList_struct *, uint64_t /* time */

typedef int (*otf2_on_error)(
	void *ctx, const char *file, uint64_t line, const char *in, int, const char *fmt, va_list);

/* result, our name, its name, parameters */
#define OTF2_API(_)                                                                                \
	_(const char *, error_text, OTF2_Error_GetDescription, (int))                              \
	_(otf2_on_error, on_error, OTF2_Error_RegisterCallback, (otf2_on_error, void *))           \
	_(OTF2_ARCHIVE, open, OTF2_Archive_Open,                                                   \
		(const char *, const char *, uint8_t, uint64_t, uint64_t, uint8_t, uint8_t))       \
	_(int, close, OTF2_Archive_Close, (OTF2_ARCHIVE))                                          \
	_(int, set_flush, OTF2_Archive_SetFlushCallbacks,                                          \
		(OTF2_ARCHIVE, const struct OTF2_FlushCallbacks *, void *))                        \
	_(int, set_memory, OTF2_Archive_SetMemoryCallbacks,                                        \
		(OTF2_ARCHIVE, const struct OTF2_MemoryCallbacks *, void *))                       \
	_(int, set_serial, OTF2_Archive_SetSerialCollectiveCallbacks, (OTF2_ARCHIVE))              \
	_(int, set_creator, OTF2_Archive_SetCreator, (OTF2_ARCHIVE, const char *))                 \
	_(int, open_events, OTF2_Archive_OpenEvtFiles, (OTF2_ARCHIVE))                             \
	_(int, close_events, OTF2_Archive_CloseEvtFiles, (OTF2_ARCHIVE))                           \
	_(int, open_definitions, OTF2_Archive_OpenDefFiles, (OTF2_ARCHIVE))                        \
	_(int, close_definitions, OTF2_Archive_CloseDefFiles, (OTF2_ARCHIVE))                      \
	_(OTF2_EVENTS, event_writer, OTF2_Archive_GetEvtWriter, (OTF2_ARCHIVE, uint64_t))          \
	_(int, close_event_writer, OTF2_Archive_CloseEvtWriter, (OTF2_ARCHIVE, OTF2_EVENTS))       \
	_(struct OTF2_DefWriter_struct *, definition_writer, OTF2_Archive_GetDefWriter,            \
		(OTF2_ARCHIVE, uint64_t))                                                          \
	_(int, close_definition_writer, OTF2_Archive_CloseDefWriter,                               \
		(OTF2_ARCHIVE, struct OTF2_DefWriter_struct *))                                    \
	_(OTF2_GLOBAL, global_writer, OTF2_Archive_GetGlobalDefWriter, (OTF2_ARCHIVE))             \
	_(int, clock, OTF2_GlobalDefWriter_WriteClockProperties,                                   \
		(OTF2_GLOBAL, uint64_t, uint64_t, uint64_t, uint64_t))                             \
	_(int, string, OTF2_GlobalDefWriter_WriteString, (OTF2_GLOBAL, uint32_t, const char *))    \
	_(int, region, OTF2_GlobalDefWriter_WriteRegion,                                           \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t,  \
			uint32_t, uint32_t, uint32_t))                                             \
	_(int, tree_node, OTF2_GlobalDefWriter_WriteSystemTreeNode,                                \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint32_t))                             \
	_(int, tree_domain, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain,                        \
		(OTF2_GLOBAL, uint32_t, uint8_t))                                                  \
	_(int, location_group, OTF2_GlobalDefWriter_WriteLocationGroup,                            \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint8_t, uint32_t, uint32_t))                    \
	_(int, location, OTF2_GlobalDefWriter_WriteLocation,                                       \
		(OTF2_GLOBAL, uint64_t, uint32_t, uint8_t, uint64_t, uint32_t))                    \
	_(int, group, OTF2_GlobalDefWriter_WriteGroup,                                             \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint8_t, uint8_t, uint32_t, uint32_t,            \
			const uint64_t *))                                                         \
	_(int, comm, OTF2_GlobalDefWriter_WriteComm,                                               \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t))                   \
	_(int, intercomm, OTF2_GlobalDefWriter_WriteInterComm,                                     \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t))         \
	_(int, window, OTF2_GlobalDefWriter_WriteRmaWin,                                           \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint32_t))                             \
	_(int, put, OTF2_EvtWriter_RmaPut, (OTF2_EVENT, uint32_t, uint32_t, uint64_t, uint64_t))   \
	_(int, get, OTF2_EvtWriter_RmaGet, (OTF2_EVENT, uint32_t, uint32_t, uint64_t, uint64_t))   \
	_(int, copied, OTF2_EvtWriter_RmaOpCompleteBlocking, (OTF2_EVENT, uint32_t, uint64_t))     \
	_(int, paradigm, OTF2_GlobalDefWriter_WriteParadigm,                                       \
		(OTF2_GLOBAL, uint8_t, uint32_t, uint8_t))                                         \
	_(int, metric_member, OTF2_GlobalDefWriter_WriteMetricMember,                              \
		(OTF2_GLOBAL, uint32_t, uint32_t, uint32_t, uint8_t, uint8_t, uint8_t, uint8_t,    \
			int64_t, uint32_t))                                                        \
	_(int, metric_class, OTF2_GlobalDefWriter_WriteMetricClass,                                \
		(OTF2_GLOBAL, uint32_t, uint8_t, const uint32_t *, uint8_t, uint8_t))              \
	_(int, metric, OTF2_EvtWriter_Metric,                                                      \
		(OTF2_EVENT, uint32_t, uint8_t, const uint8_t *,                                   \
			const union OTF2_MetricValue_union *))                                     \
	_(int, thread_fork, OTF2_EvtWriter_ThreadFork, (OTF2_EVENT, uint8_t, uint32_t))            \
	_(int, thread_join, OTF2_EvtWriter_ThreadJoin, (OTF2_EVENT, uint8_t))                      \
	_(int, team_begin, OTF2_EvtWriter_ThreadTeamBegin, (OTF2_EVENT, uint32_t))                 \
	_(int, team_end, OTF2_EvtWriter_ThreadTeamEnd, (OTF2_EVENT, uint32_t))                     \
	_(int, thread_create, OTF2_EvtWriter_ThreadCreate, (OTF2_EVENT, uint32_t, uint64_t))       \
	_(int, thread_begin, OTF2_EvtWriter_ThreadBegin, (OTF2_EVENT, uint32_t, uint64_t))         \
	_(int, thread_end, OTF2_EvtWriter_ThreadEnd, (OTF2_EVENT, uint32_t, uint64_t))             \
	_(int, enter, OTF2_EvtWriter_Enter, (OTF2_EVENT, uint32_t))                                \
	_(int, leave, OTF2_EvtWriter_Leave, (OTF2_EVENT, uint32_t))                                \
	_(int, send, OTF2_EvtWriter_MpiSend, (OTF2_EVENT, uint32_t, uint32_t, uint32_t, uint64_t)) \
	_(int, recv, OTF2_EvtWriter_MpiRecv, (OTF2_EVENT, uint32_t, uint32_t, uint32_t, uint64_t)) \
	_(int, isend, OTF2_EvtWriter_MpiIsend,                                                     \
		(OTF2_EVENT, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t))                    \
	_(int, isend_complete, OTF2_EvtWriter_MpiIsendComplete, (OTF2_EVENT, uint64_t))            \
	_(int, irecv_request, OTF2_EvtWriter_MpiIrecvRequest, (OTF2_EVENT, uint64_t))              \
	_(int, irecv, OTF2_EvtWriter_MpiIrecv,                                                     \
		(OTF2_EVENT, uint32_t, uint32_t, uint32_t, uint64_t, uint64_t))                    \
	_(int, cancelled, OTF2_EvtWriter_MpiRequestCancelled, (OTF2_EVENT, uint64_t))              \
	_(int, collective_begin, OTF2_EvtWriter_MpiCollectiveBegin, (OTF2_EVENT))                  \
	_(int, collective_end, OTF2_EvtWriter_MpiCollectiveEnd,                                    \
		(OTF2_EVENT, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t))                     \
	_(int, collective_request, OTF2_EvtWriter_NonBlockingCollectiveRequest,                    \
		(OTF2_EVENT, uint64_t))                                                            \
	_(int, collective_complete, OTF2_EvtWriter_NonBlockingCollectiveComplete,                  \
		(OTF2_EVENT, uint8_t, uint32_t, uint32_t, uint64_t, uint64_t, uint64_t))

struct otf2_api {
#define OTF2_MEMBER(result, name, symbol, parameters) result(*name) parameters;
	OTF2_API(OTF2_MEMBER)
#undef OTF2_MEMBER
};

/* ours, OTF2's, value */
#define OTF2_CONSTANTS(_)                                                                          \
	_(NONE, OTF2_UNDEFINED_UINT32, UINT32_MAX)                                                 \
	_(WRITE, OTF2_FILEMODE_WRITE, 0)                                                           \
	_(POSIX, OTF2_SUBSTRATE_POSIX, 1)                                                          \
	_(PLAIN, OTF2_COMPRESSION_NONE, 1)                                                         \
	_(CHUNK_EVENTS, OTF2_CHUNK_SIZE_MIN, 256 * 1024)                                           \
	_(CHUNK_DEFINITIONS, OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, 4 * 1024 * 1024)                 \
	_(DO_FLUSH, OTF2_FLUSH, 1)                                                                 \
	_(EVENTS, OTF2_FILETYPE_EVENTS, 3)                                                         \
	_(FUNCTION, OTF2_REGION_ROLE_FUNCTION, 1)                                                  \
	_(BARRIER, OTF2_REGION_ROLE_BARRIER, 15)                                                   \
	_(ONE_TO_ALL, OTF2_REGION_ROLE_COLL_ONE2ALL, 23)                                           \
	_(ALL_TO_ONE, OTF2_REGION_ROLE_COLL_ALL2ONE, 24)                                           \
	_(ALL_TO_ALL, OTF2_REGION_ROLE_COLL_ALL2ALL, 25)                                           \
	_(COLLECTIVE, OTF2_REGION_ROLE_COLL_OTHER, 26)                                             \
	_(FILE_IO, OTF2_REGION_ROLE_FILE_IO, 27)                                                   \
	_(POINT_TO_POINT, OTF2_REGION_ROLE_POINT2POINT, 28)                                        \
	_(ONE_SIDED, OTF2_REGION_ROLE_RMA, 29)                                                     \
	_(OF_PROCESSES, OTF2_PARADIGM_CLASS_PROCESS, 0)                                            \
	_(OF_THREADS, OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN, 1)                                     \
	_(OF_MADE_THREADS, OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT, 2)                              \
	_(OF_ACCELERATORS, OTF2_PARADIGM_CLASS_ACCELERATOR, 3)                                     \
	_(CODE, OTF2_REGION_ROLE_CODE, 4)                                                          \
	_(PARALLEL, OTF2_REGION_ROLE_PARALLEL, 5)                                                  \
	_(LOOP, OTF2_REGION_ROLE_LOOP, 3)                                                          \
	_(SECTIONS, OTF2_REGION_ROLE_SECTIONS, 6)                                                  \
	_(WORKSHARE, OTF2_REGION_ROLE_WORKSHARE, 8)                                                \
	_(SINGLE, OTF2_REGION_ROLE_SINGLE, 9)                                                      \
	_(MASKED, OTF2_REGION_ROLE_MASTER, 11)                                                     \
	_(CRITICAL, OTF2_REGION_ROLE_CRITICAL, 12)                                                 \
	_(IN_CRITICAL, OTF2_REGION_ROLE_CRITICAL_SBLOCK, 13)                                       \
	_(ATOMIC, OTF2_REGION_ROLE_ATOMIC, 14)                                                     \
	_(IMPLICIT_BARRIER, OTF2_REGION_ROLE_IMPLICIT_BARRIER, 16)                                 \
	_(ORDERED, OTF2_REGION_ROLE_ORDERED, 18)                                                   \
	_(IN_ORDERED, OTF2_REGION_ROLE_ORDERED_SBLOCK, 19)                                         \
	_(TASK, OTF2_REGION_ROLE_TASK, 20)                                                         \
	_(TASK_CREATE, OTF2_REGION_ROLE_TASK_CREATE, 21)                                           \
	_(TASK_WAIT, OTF2_REGION_ROLE_TASK_WAIT, 22)                                               \
	_(ARTIFICIAL, OTF2_REGION_ROLE_ARTIFICIAL, 31)                                             \
	_(BY_USER, OTF2_PARADIGM_USER, 1)                                                          \
	_(BY_COMPILER, OTF2_PARADIGM_COMPILER, 2)                                                  \
	_(BY_OPENMP, OTF2_PARADIGM_OPENMP, 3)                                                      \
	_(BY_MPI, OTF2_PARADIGM_MPI, 4)                                                            \
	_(BY_TRACER, OTF2_PARADIGM_MEASUREMENT_SYSTEM, 6)                                          \
	_(BY_PTHREAD, OTF2_PARADIGM_PTHREAD, 7)                                                    \
	_(DOMAIN_MACHINE, OTF2_SYSTEM_TREE_DOMAIN_MACHINE, 0)                                      \
	_(DOMAIN_NODE, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY, 1)                                   \
	_(PROCESS, OTF2_LOCATION_GROUP_TYPE_PROCESS, 1)                                            \
	_(THREAD, OTF2_LOCATION_TYPE_CPU_THREAD, 1)                                                \
	_(STREAM, OTF2_LOCATION_TYPE_ACCELERATOR_STREAM, 2)                                        \
	_(BY_CUDA, OTF2_PARADIGM_CUDA, 5)                                                          \
	_(COMM_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, 4)                                       \
	_(COMM_GROUP, OTF2_GROUP_TYPE_COMM_GROUP, 5)                                               \
	_(METRIC_OTHER, OTF2_METRIC_TYPE_OTHER, 0)                                                 \
	_(METRIC_PAPI, OTF2_METRIC_TYPE_PAPI, 1)                                                   \
	_(METRIC_USER, OTF2_METRIC_TYPE_USER, 3)                                                   \
	_(METRIC_SUM, OTF2_METRIC_ACCUMULATED_START, 0)                                            \
	_(METRIC_LEVEL, OTF2_METRIC_ABSOLUTE_POINT, 17)                                            \
	_(METRIC_AT_CALLS, OTF2_METRIC_SYNCHRONOUS, 1)                                             \
	_(METRIC_ANY_TIME, OTF2_METRIC_ASYNCHRONOUS, 2)                                            \
	_(RECORDER_CPU, OTF2_RECORDER_KIND_CPU, 2)                                                 \
	_(UINT64, OTF2_TYPE_UINT64, 4)                                                             \
	_(INT64, OTF2_TYPE_INT64, 8)                                                               \
	_(DOUBLE, OTF2_TYPE_DOUBLE, 10)                                                            \
	_(DECIMAL, OTF2_BASE_DECIMAL, 1)                                                           \
	_(CREATES, OTF2_COLLECTIVE_OP_CREATE_HANDLE, 17)                                           \
	_(DESTROYS, OTF2_COLLECTIVE_OP_DESTROY_HANDLE, 18)

enum otf2_constant {
#define OTF2_CONSTANT(name, symbol, value) OUR_##name = (value),
	OTF2_CONSTANTS(OTF2_CONSTANT)
#undef OTF2_CONSTANT
};

/* Layout of struct OTF2_FlushCallbacks. */
struct otf2_flush {
	uint8_t (*before)(void *ctx, uint8_t file, uint64_t location, void *caller, bool final);
	uint64_t (*after)(void *ctx, uint8_t file, uint64_t location);
};

/* Layout of struct OTF2_MemoryCallbacks. */
struct otf2_memory {
	void *(*allocate)(
		void *ctx, uint8_t file, uint64_t location, void **buffer, uint64_t bytes);
	void (*free_all)(void *ctx, uint8_t file, uint64_t location, void **buffer, bool final);
};

#endif
