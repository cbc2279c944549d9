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

/* Functions of which a call takes less time than five hooks, or whose calls were counted. */
struct short_functions {
	uint32_t *names; /* by falling calls; indices into names[] of the profile */
	uint64_t *calls; /* of each of them */
	size_t n;
	uint64_t all_calls; /* sum of calls[] */
	bool has_cxx;	    /* one is of C++: short_functions_option() leaves its name out */
};

/* True if calls of the group were counted in place of being timed. */
bool short_function_is_counted(
	const struct report *r, const struct report_group *g, const uint32_t *members);

/*
 * running_share() of a program (profile/running-share.h): the part of the time in which it wanted a
 * CPU and had one; 1 if no times are known. threads: some processes have several threads; then it
 * is that of first threads, as the waits of others are not known.
 */
double short_running_share(const struct profile_cpu *c, bool threads);

/*
 * The short functions of the program, without those of MPI and OpenMP, whose hooks are not the
 * compiler's. short_functions_free() frees what is in it.
 */
struct short_functions short_functions(const struct report *r);
void short_functions_free(struct short_functions *s);

/*
 * Keeps those that are worth to be left out by a compiler: hooks of each take a hundredth of the
 * CPU time, or more; and nothing but their time is lost: the program goes on to have its main loop,
 * and no function is kept that calls others, of MPI or the program, unless these go, too.
 */
void short_functions_keep_costly(const struct report *r, struct short_functions *s);

/*
 * Prints gcc's option that leaves out the first `most' functions, without a newline; nothing if the
 * option can take none of their names. gcc leaves out every function whose name contains one of the
 * option's names.
 */
void short_functions_option(
	FILE *f, const struct report *r, const struct short_functions *s, size_t most);

/* The same as a text; the caller frees. */
char *short_functions_option_text(
	const struct report *r, const struct short_functions *s, size_t most);

/* How many functions at the front of the list have so many calls that they are named: at most 5. */
size_t short_functions_named(const struct report *r, const struct short_functions *s);

/*
 * The text for the option by which gcc knows a function (index into names[]): its name, or of a
 * template and its members, whose readable names lack the arguments, the last part, "::step". NULL:
 * there is no such text, as for an operator. The caller frees.
 */
char *short_function_word(const struct report *r, uint32_t name);

#endif
