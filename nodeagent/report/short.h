/* SPDX-License-Identifier: BSD-3-Clause */
/* Short functions: those whose calls take hardly longer than the hooks in them. */
#ifndef VFTR_NODEAGENT_REPORT_SHORT_H
#define VFTR_NODEAGENT_REPORT_SHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What counts them in the next run, with less than 5 % of its CPU time in hooks of short functions.
 */
#define COUNT_TINY "overhead.count_tiny=5"

/* What gcc leaves out as headers: files with one of these in their paths. */
#define GCC_HEADERS ".h,.H,.tpp,.tcc,.ipp,.inl"

struct profile_cpu;
struct report;
struct report_group;

struct short_functions {
	uint32_t *names; /* one of each, by falling calls: indices into names[] */
	uint64_t *calls;
	size_t n;
	uint64_t all_calls; /* of all of them */
	bool has_cxx;	    /* one is of C++: its name is nothing for the option below */
};

/* Were calls of it counted in place of being timed? */
bool short_function_is_counted(
	const struct report *r, const struct report_group *g, const uint32_t *members);

/*
 * The part, from 0.01 to 1, of the time in which a program wanted a CPU and had one; 1 where that
 * is not known. threads: some processes have several threads, and then it is that of the first.
 */
double short_running_share(const struct profile_cpu *c, bool threads);

/* Functions of the program only: the hooks of MPI and OpenMP are not the compiler's. */
struct short_functions short_functions(const struct report *r);
void short_functions_free(struct short_functions *s);

/*
 * gcc's option that leaves the first `most` of them out, without a newline; nothing if none has
 * a name that it can take. gcc leaves out all functions whose names contain one of these.
 */
void short_functions_option(
	FILE *f, const struct report *r, const struct short_functions *s, size_t most);

/* The same as a text; the caller frees. */
char *short_functions_option_text(
	const struct report *r, const struct short_functions *s, size_t most);

/* How many of the first ones have so many of the calls that they are worth being named. */
size_t short_functions_named(const struct report *r, const struct short_functions *s);

/*
 * A name by which gcc knows the function (index into names[]) in that list; of templates and
 * members of them, and of what has no name around it, the last part: "::step". NULL: it has
 * none, as an operator. The caller frees.
 */
char *short_function_word(const struct report *r, uint32_t name);

#endif
