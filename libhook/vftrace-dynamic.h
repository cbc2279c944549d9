/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * vftrace-session.h without a dependency: a program that includes this file instead is
 * built and runs without libvftrace. Without it each call returns VFTRACE_NO_AGENT;
 * vftrace_enabled(), vftrace_round() and vftrace_time() return 0. The
 * library is found if it was there before main, linked or preloaded (vftr-node-agent
 * --preload), or when vftrace_load() has loaded it. For C and C++; link with -ldl where
 * the C library is older than glibc 2.34.
 */
#ifndef VFTRACE_DYNAMIC_H
#define VFTRACE_DYNAMIC_H

#include <dlfcn.h>
#include <stddef.h>
#include "vftrace-session.h"

/* clang-format off */
#define VFTRACE_DYNAMIC_NAMES(X) \
	X(vftrace_join) \
	X(vftrace_expect) \
	X(vftrace_start) \
	X(vftrace_start_async) \
	X(vftrace_test) \
	X(vftrace_finish) \
	X(vftrace_abort) \
	X(vftrace_reset) \
	X(vftrace_leave) \
	X(vftrace_enabled) \
	X(vftrace_round) \
	X(vftrace_comm_rank) \
	X(vftrace_comm_size) \
	X(vftrace_comm_create) \
	X(vftrace_comm_free) \
	X(vftrace_children) \
	X(vftrace_attach) \
	X(vftrace_parent) \
	X(vftrace_log_send) \
	X(vftrace_log_receive) \
	X(vftrace_collective_begin) \
	X(vftrace_collective_end) \
	X(vftrace_log_collective) \
	X(vftrace_log_data) \
	X(vftrace_begin_unordered) \
	X(vftrace_end_unordered) \
	X(vftrace_class) \
	X(vftrace_state) \
	X(vftrace_location) \
	X(vftrace_enter) \
	X(vftrace_leave_state) \
	X(vftrace_counter_define) \
	X(vftrace_counter_set) \
	X(vftrace_counter_set_integer) \
	X(vftrace_time) \
	X(vftrace_error_text) \
	X(vftrace_last_error)
/* clang-format on */

#define VFTRACE_DYNAMIC_NUMBER(name) VFTRACE_AT_##name,
enum vftrace_dynamic_number { VFTRACE_DYNAMIC_NAMES(VFTRACE_DYNAMIC_NUMBER) VFTRACE_AT_END };

/* The library's functions, one table for all files of a program; NULL: not found. */
__attribute__((weak, visibility("hidden"))) void *vftrace_dynamic[VFTRACE_AT_END];

__attribute__((constructor, unused)) static void vftrace_find_all(void)
{
#define VFTRACE_DYNAMIC_NAME(name) #name,
	static const char *const names[] = {VFTRACE_DYNAMIC_NAMES(VFTRACE_DYNAMIC_NAME)};
	void *all = dlopen(NULL, RTLD_NOW);

	for (int i = 0; all && i < VFTRACE_AT_END; i++)
		vftrace_dynamic[i] = dlsym(all, names[i]);
	if (all)
		dlclose(all);
}

/*
 * Loads libvftrace from `path`; NULL: from where the loader looks for libraries. Call it while
 * no other thread calls a function of this file. Returns VFTRACE_OK, or VFTRACE_NO_AGENT if
 * the library cannot be loaded.
 */
static inline int vftrace_load(const char *path)
{
	void *library = dlopen(path ? path : "libvftrace.so", RTLD_NOW | RTLD_GLOBAL);

	vftrace_find_all();
	return library ? VFTRACE_OK : VFTRACE_NO_AGENT;
}

#define VFTRACE_DYNAMIC(type, nothing, name, parameters, arguments)                                \
	static inline type name##_dynamic parameters                                               \
	{                                                                                          \
		union {                                                                            \
			void *found;                                                               \
			type(*call) parameters;                                                    \
		} f;                                                                               \
                                                                                                   \
		f.found = vftrace_dynamic[VFTRACE_AT_##name];                                      \
		return f.found ? f.call arguments : nothing;                                       \
	}

VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_join,
	(int number, const char *name, const char **contact), (number, name, contact))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_expect,
	(int processes, int n_contacts, const char *const *contacts),
	(processes, n_contacts, contacts))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_start, (double timeout_s), (timeout_s))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_start_async, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_test, (int *done), (done))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_finish, (double timeout_s), (timeout_s))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_abort, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_reset, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_leave, (void), ())
VFTRACE_DYNAMIC(int, 0, vftrace_enabled, (void), ())
VFTRACE_DYNAMIC(int, 0, vftrace_round, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_comm_rank, (int comm, int *rank), (comm, rank))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_comm_size, (int comm, int *size), (comm, size))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_comm_create,
	(int comm, int n, const int *ranks, double timeout_s, int *new_comm),
	(comm, n, ranks, timeout_s, new_comm))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_comm_free, (int *comm), (comm))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_children, (const char **contact), (contact))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_attach,
	(int root, int comm, int children, const char *contact, double timeout_s, int *new_comm),
	(root, comm, children, contact, timeout_s, new_comm))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_parent, (int *comm), (comm))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_log_send,
	(int comm, int peer, int tag, uint64_t bytes), (comm, peer, tag, bytes))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_log_receive,
	(int comm, int peer, int tag, uint64_t bytes), (comm, peer, tag, bytes))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_collective_begin, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_collective_end, (void), ())
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_log_collective,
	(int operation, int comm, int root, uint64_t bytes_sent, uint64_t bytes_received),
	(operation, comm, root, bytes_sent, bytes_received))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_log_data, (uint64_t bytes, const char *label),
	(bytes, label))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_begin_unordered, (uint64_t time), (time))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_end_unordered, (void), ())
VFTRACE_DYNAMIC(
	int, VFTRACE_NO_AGENT, vftrace_class, (const char *name, int *number), (name, number))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_state,
	(const char *name, int class_number, int *number), (name, class_number, number))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_location, (const char *file, int line, int *number),
	(file, line, number))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_enter, (int state, int location), (state, location))
VFTRACE_DYNAMIC(
	int, VFTRACE_NO_AGENT, vftrace_leave_state, (int state, int location), (state, location))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_counter_define,
	(const char *name, const char *unit, int type, int *number), (name, unit, type, number))
VFTRACE_DYNAMIC(
	int, VFTRACE_NO_AGENT, vftrace_counter_set, (int number, double value), (number, value))
VFTRACE_DYNAMIC(int, VFTRACE_NO_AGENT, vftrace_counter_set_integer, (int number, int64_t value),
	(number, value))
VFTRACE_DYNAMIC(uint64_t, 0, vftrace_time, (void), ())
VFTRACE_DYNAMIC(const char *, "there is no libvftrace", vftrace_error_text, (int code), (code))
VFTRACE_DYNAMIC(const char *, "", vftrace_last_error, (void), ())

#undef VFTRACE_DYNAMIC
#undef VFTRACE_DYNAMIC_NAME
#undef VFTRACE_DYNAMIC_NUMBER

#define vftrace_join		    vftrace_join_dynamic
#define vftrace_expect		    vftrace_expect_dynamic
#define vftrace_start		    vftrace_start_dynamic
#define vftrace_start_async	    vftrace_start_async_dynamic
#define vftrace_test		    vftrace_test_dynamic
#define vftrace_finish		    vftrace_finish_dynamic
#define vftrace_abort		    vftrace_abort_dynamic
#define vftrace_reset		    vftrace_reset_dynamic
#define vftrace_leave		    vftrace_leave_dynamic
#define vftrace_enabled		    vftrace_enabled_dynamic
#define vftrace_round		    vftrace_round_dynamic
#define vftrace_comm_rank	    vftrace_comm_rank_dynamic
#define vftrace_comm_size	    vftrace_comm_size_dynamic
#define vftrace_comm_create	    vftrace_comm_create_dynamic
#define vftrace_comm_free	    vftrace_comm_free_dynamic
#define vftrace_children	    vftrace_children_dynamic
#define vftrace_attach		    vftrace_attach_dynamic
#define vftrace_parent		    vftrace_parent_dynamic
#define vftrace_log_send	    vftrace_log_send_dynamic
#define vftrace_log_receive	    vftrace_log_receive_dynamic
#define vftrace_collective_begin    vftrace_collective_begin_dynamic
#define vftrace_collective_end	    vftrace_collective_end_dynamic
#define vftrace_log_collective	    vftrace_log_collective_dynamic
#define vftrace_log_data	    vftrace_log_data_dynamic
#define vftrace_begin_unordered	    vftrace_begin_unordered_dynamic
#define vftrace_end_unordered	    vftrace_end_unordered_dynamic
#define vftrace_class		    vftrace_class_dynamic
#define vftrace_state		    vftrace_state_dynamic
#define vftrace_location	    vftrace_location_dynamic
#define vftrace_enter		    vftrace_enter_dynamic
#define vftrace_leave_state	    vftrace_leave_state_dynamic
#define vftrace_counter_define	    vftrace_counter_define_dynamic
#define vftrace_counter_set	    vftrace_counter_set_dynamic
#define vftrace_counter_set_integer vftrace_counter_set_integer_dynamic
#define vftrace_time		    vftrace_time_dynamic
#define vftrace_error_text	    vftrace_error_text_dynamic
#define vftrace_last_error	    vftrace_last_error_dynamic

#endif
