/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many small MPI programs in one executable. Each says on every rank, line by
 * line, what it can see of MPI: return codes, statuses to the last byte, flags,
 * indices, data; and says FAIL where the MPI standard wants something else. The
 * transcripts must be the same with and without a tracer.
 */
#ifndef TRANSPARENT_H
#define TRANSPARENT_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PAIR: on ranks with a partner, rank ^ 1. Else the least number of ranks. */
enum { PAIR = 0, ANY = 1 };

struct program {
	const char *name;
	void (*run)(void);
	int ranks;
};

/* each ends with a row without a name */
extern const struct program send_programs[], receive_programs[], completion_programs[],
	grequest_programs[], error_programs[], collective_programs[], nonblocking_programs[],
	persistent_programs[], neighbour_programs[], communicator_programs[], attribute_programs[],
	group_programs[], window_programs[], file_programs[], datatype_programs[],
	dynamic_programs[], thread_programs[], intercomm_programs[], other_programs[];

/* Of the running program: a duplicate of MPI_COMM_WORLD that returns errors. */
extern MPI_Comm comm;
extern int rank, size, peer, provided_level;
extern bool left;	     /* even rank */
extern const char *own_file; /* of the program, for spawning */

/* An error handler that counts its calls and returns, for each kind of object. */
extern MPI_Errhandler counting;
extern int errors_counted, last_error_class;

/* A line of the transcript. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with FAIL and the place before it, if not ok. */
void check_at(bool ok, const char *file, int line, const char *text);
#define CHECK(ok) check_at(ok, __FILE__, __LINE__, #ok)

/* Of a call: OK wants MPI_SUCCESS, BAD an error, SAY either; the last two say it. */
int call_ok(const char *file, int line, const char *call, int code);
int call_bad(const char *file, int line, const char *call, int code);
int call_say(const char *call, int code);
#define OK(call)  call_ok(__FILE__, __LINE__, #call, call)
#define BAD(call) call_bad(__FILE__, __LINE__, #call, call)
#define SAY(call) call_say(#call, call)
const char *class_name(int code);

/* Makes a status recognisable, so that it shows who wrote where. */
void mark(MPI_Status *status, int n);
bool is_marked(const MPI_Status *status);
/* Says all of a completed receive's status; the count in `type`. */
void say_status(const char *what, const MPI_Status *status, MPI_Datatype type);
/* Says source, tag, error, and whether cancelled: all there is of an empty one. */
void say_empty(const char *what, const MPI_Status *status);
/* FAIL unless it is so. */
void want_at(const char *file, int line, const MPI_Status *status, int source, int tag,
	MPI_Datatype type, int count);
#define WANT(status, source, tag, type, count)                                                     \
	want_at(__FILE__, __LINE__, status, source, tag, type, count)

/* Until MPI_Request_get_status says so for all of them; nothing is completed by it. */
void until_complete(int n, const MPI_Request *requests);

/* a[i] = first + i */
void fill(int *a, int n, int first);
bool is_filled(const int *a, int n, int first);
unsigned checksum(const void *data, size_t bytes);

/* Garbage for arguments that are not significant. */
extern MPI_Datatype garbage_type;
extern void *garbage_array;
#define NO_TYPE	 garbage_type
#define NO_COUNT (-123)
#define NO_ARRAY garbage_array

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

#endif
