/* SPDX-License-Identifier: BSD-3-Clause */
/* Short functions: those whose calls take hardly longer than the hooks in them. */
#ifndef VFTR_NODEAGENT_REPORT_SHORT_H
#define VFTR_NODEAGENT_REPORT_SHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The setting by which the next run counts short functions, so that their hooks take less than 5 %
 * of its CPU time.
 */
#define COUNT_TINY "overhead.count_tiny=5"

/* For gcc's option that leaves out the functions of headers: parts of the paths of headers. */
#define GCC_HEADERS ".h,.H,.tpp,.tcc,.ipp,.inl"

struct profile_cpu;
struct report;
struct report_group;

struct short_functions {
	uint32_t *names; /* by falling calls; indices into names[] of the profile */
	uint64_t *calls;
	size_t n;
	uint64_t all_calls; /* of all of them */
	bool has_cxx;	    /* one is of C++, whose name the option below cannot take */
};

/* True if calls of the group were counted in place of being timed. */
bool short_function_is_counted(
	const struct report *r, const struct report_group *g, const uint32_t *members);

/*
 * running_share() of a program; 1 if no times are known. threads: some processes have several
 * threads; then it is that of first threads, as waits of others are not known.
 */
double short_running_share(const struct profile_cpu *c, bool threads);

/* Functions of the program only: the hooks of MPI and OpenMP are not the compiler's. */
struct short_functions short_functions(const struct report *r);
void short_functions_free(struct short_functions *s);

/*
 * Prints gcc's option that leaves out the first `most` functions, without a newline; prints nothing
 * if no name is one that the option can take. gcc leaves out every function whose name contains one
 * of the option's names.
 */
void short_functions_option(
	FILE *f, const struct report *r, const struct short_functions *s, size_t most);

/* The same as a text; the caller frees. */
char *short_functions_option_text(
	const struct report *r, const struct short_functions *s, size_t most);

/* The number of functions, at the front of the list, that have enough calls to be worth naming. */
size_t short_functions_named(const struct report *r, const struct short_functions *s);

/*
 * The name by which the option knows a function (index into names[]). For templates and their
 * members, and names without a scope, that is the last part: "::step". NULL: there is no such name,
 * as for an operator. The caller frees.
 */
char *short_function_word(const struct report *r, uint32_t name);

#endif
