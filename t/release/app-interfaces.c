/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface of version 0.1: each function with its type, and each number. vftr-stability(7)
 * promises that a program of it can still be compiled, linked and run. So a line here may be
 * added, and is never changed. Prints the names of the functions; calls those that need nothing.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "vftrace-session.h"
#include "vftrace.h"

#define FUNCTIONS(X)                                                                               \
	X(vftrace_region_begin, void, (const char *))                                              \
	X(vftrace_region_end, void, (const char *))                                                \
	X(vftrace_pause, void, (void))                                                             \
	X(vftrace_resume, void, (void))                                                            \
	X(vftrace_io_begin, uint64_t, (void))                                                      \
	X(vftrace_io_end, void, (enum vftrace_io, uint64_t, int64_t))                              \
	X(vftrace_get_stack, char *, (void))                                                       \
	X(vftrace_get_stack_string_length, int, (void))                                            \
	X(vftrace_version, const char *, (void))                                                   \
	X(vftrace_error_text, const char *, (int))                                                 \
	X(vftrace_last_error, const char *, (void))                                                \
	X(vftrace_join, int, (int, const char *, const char **))                                   \
	X(vftrace_expect, int, (int, int, const char *const *))                                    \
	X(vftrace_start, int, (double))                                                            \
	X(vftrace_start_async, int, (void))                                                        \
	X(vftrace_test, int, (int *))                                                              \
	X(vftrace_finish, int, (double))                                                           \
	X(vftrace_abort, int, (void))                                                              \
	X(vftrace_reset, int, (void))                                                              \
	X(vftrace_leave, int, (void))                                                              \
	X(vftrace_enabled, int, (void))                                                            \
	X(vftrace_round, int, (void))                                                              \
	X(vftrace_comm_rank, int, (int, int *))                                                    \
	X(vftrace_comm_size, int, (int, int *))                                                    \
	X(vftrace_comm_create, int, (int, int, const int *, double, int *))                        \
	X(vftrace_comm_free, int, (int *))                                                         \
	X(vftrace_children, int, (const char **))                                                  \
	X(vftrace_attach, int, (int, int, int, const char *, double, int *))                       \
	X(vftrace_parent, int, (int *))                                                            \
	X(vftrace_log_send, int, (int, int, int, uint64_t))                                        \
	X(vftrace_log_receive, int, (int, int, int, uint64_t))                                     \
	X(vftrace_collective_begin, int, (void))                                                   \
	X(vftrace_collective_end, int, (void))                                                     \
	X(vftrace_log_collective, int, (int, int, int, uint64_t, uint64_t))                        \
	X(vftrace_log_data, int, (uint64_t, const char *))                                         \
	X(vftrace_begin_unordered, int, (uint64_t))                                                \
	X(vftrace_end_unordered, int, (void))                                                      \
	X(vftrace_class, int, (const char *, int *))                                               \
	X(vftrace_state, int, (const char *, int, int *))                                          \
	X(vftrace_location, int, (const char *, int, int *))                                       \
	X(vftrace_enter, int, (int, int))                                                          \
	X(vftrace_leave_state, int, (int, int))                                                    \
	X(vftrace_counter_define, int, (const char *, const char *, int, int *))                   \
	X(vftrace_counter_set, int, (int, double))                                                 \
	X(vftrace_counter_set_integer, int, (int, int64_t))                                        \
	X(vftrace_time, uint64_t, (void))

#define NUMBERS(X)                                                                                 \
	X(VFTRACE_IO_READ, 0)                                                                      \
	X(VFTRACE_IO_WRITE, 1)                                                                     \
	X(VFTRACE_OK, 0)                                                                           \
	X(VFTRACE_NO_AGENT, 1)                                                                     \
	X(VFTRACE_ERROR_NOT_JOINED, 2)                                                             \
	X(VFTRACE_ERROR_NOT_STARTED, 3)                                                            \
	X(VFTRACE_ERROR_ALREADY, 4)                                                                \
	X(VFTRACE_ERROR_NUMBER, 5)                                                                 \
	X(VFTRACE_ERROR_CONTACT, 6)                                                                \
	X(VFTRACE_ERROR_TIMEOUT, 7)                                                                \
	X(VFTRACE_ERROR_ABORTED, 8)                                                                \
	X(VFTRACE_ERROR_DEAD, 9)                                                                   \
	X(VFTRACE_ERROR_MISMATCH, 10)                                                              \
	X(VFTRACE_ERROR_ARGUMENT, 11)                                                              \
	X(VFTRACE_ERROR_BUSY, 12)                                                                  \
	X(VFTRACE_ERROR_LIMIT, 13)                                                                 \
	X(VFTRACE_ERROR_AGENT_GONE, 14)                                                            \
	X(VFTRACE_COMM_INVALID, -1)                                                                \
	X(VFTRACE_COMM_WORLD, 1)                                                                   \
	X(VFTRACE_COMM_SELF, 2)                                                                    \
	X(VFTRACE_COMM_PARENT, 3)                                                                  \
	X(VFTRACE_BARRIER, 0)                                                                      \
	X(VFTRACE_BROADCAST, 1)                                                                    \
	X(VFTRACE_REDUCE, 2)                                                                       \
	X(VFTRACE_ALLREDUCE, 3)                                                                    \
	X(VFTRACE_GATHER, 4)                                                                       \
	X(VFTRACE_ALLGATHER, 5)                                                                    \
	X(VFTRACE_SCATTER, 6)                                                                      \
	X(VFTRACE_ALLTOALL, 7)                                                                     \
	X(VFTRACE_COUNTER_INTEGER, 0)                                                              \
	X(VFTRACE_COUNTER_REAL, 1)

#define HAS_ITS_TYPE(name, type, parameters)                                                       \
	_Static_assert(__builtin_types_compatible_p(__typeof__(name), type parameters),            \
		"the type of " #name " has changed");
FUNCTIONS(HAS_ITS_TYPE)

#define HAS_ITS_VALUE(name, value) _Static_assert((name) == (value), #name " has changed");
NUMBERS(HAS_ITS_VALUE)

struct function {
	const char *name;
	void (*at)(void);
};

#define ROW(name, type, parameters) {#name, (void (*)(void))name},

int main(int argc, char **argv)
{
	static const struct function all[] = {FUNCTIONS(ROW)};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (all[i].at)
			puts(all[i].name);
	vftrace_region_begin("a region");
	vftrace_region_end("a region");
	return argc > 1 && strcmp(vftrace_version(), argv[1]) ? 1 : 0;
}
