/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Caliper's C functions, which are what its macros for C call. Attributes are ended by name or
 * number: the innermost one with it. A text that is begun for an attribute names the region; for a
 * number, which would be another region each time, the attribute does. Functions give back what
 * Caliper's do, which is nothing in some versions.
 */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"
#include "shm/fnv.h"

/* What begins and ends by one name. */
#define PAIR(begins, ends)                                                                         \
	EXPORT int begins(const char *name);                                                       \
	int begins(const char *name)                                                               \
	{                                                                                          \
		__typeof__(&begins) next = NEXT(begins);                                           \
                                                                                                   \
		annotation_begin(ANNOTATION_caliper, "", name);                                    \
		return next ? next(name) : 0;                                                      \
	}                                                                                          \
	EXPORT int ends(const char *name);                                                         \
	int ends(const char *name)                                                                 \
	{                                                                                          \
		__typeof__(&ends) next = NEXT(ends);                                               \
		int result = next ? next(name) : 0;                                                \
                                                                                                   \
		annotation_end_name(ANNOTATION_caliper, name);                                     \
		return result;                                                                     \
	}
PAIR(cali_begin_region, cali_end_region)
PAIR(cali_begin_phase, cali_end_phase)
PAIR(cali_begin_comm_region, cali_end_comm_region)

static uint64_t key_of(const char *attribute)
{
	return attribute ? fnv_text(FNV_BEGIN, attribute) : 0;
}

EXPORT int cali_begin_byname(const char *attribute);
int cali_begin_byname(const char *attribute)
{
	__typeof__(&cali_begin_byname) next = NEXT(cali_begin_byname);

	annotation_push(ANNOTATION_caliper, key_of(attribute), attribute);
	return next ? next(attribute) : 0;
}

EXPORT int cali_begin_string_byname(const char *attribute, const char *text);
int cali_begin_string_byname(const char *attribute, const char *text)
{
	__typeof__(&cali_begin_string_byname) next = NEXT(cali_begin_string_byname);

	annotation_push(ANNOTATION_caliper, key_of(attribute), text);
	return next ? next(attribute, text) : 0;
}

EXPORT int cali_begin_int_byname(const char *attribute, int number);
int cali_begin_int_byname(const char *attribute, int number)
{
	__typeof__(&cali_begin_int_byname) next = NEXT(cali_begin_int_byname);

	annotation_push(ANNOTATION_caliper, key_of(attribute), attribute);
	return next ? next(attribute, number) : 0;
}

EXPORT int cali_begin_double_byname(const char *attribute, double number);
int cali_begin_double_byname(const char *attribute, double number)
{
	__typeof__(&cali_begin_double_byname) next = NEXT(cali_begin_double_byname);

	annotation_push(ANNOTATION_caliper, key_of(attribute), attribute);
	return next ? next(attribute, number) : 0;
}

EXPORT int cali_end_byname(const char *attribute);
int cali_end_byname(const char *attribute)
{
	__typeof__(&cali_end_byname) next = NEXT(cali_end_byname);
	int result = next ? next(attribute) : 0;

	annotation_pop(ANNOTATION_caliper, key_of(attribute), attribute);
	return result;
}

EXPORT int cali_begin_string(uint64_t attribute, const char *text);
int cali_begin_string(uint64_t attribute, const char *text)
{
	__typeof__(&cali_begin_string) next = NEXT(cali_begin_string);

	annotation_push(ANNOTATION_caliper, attribute, text);
	return next ? next(attribute, text) : 0;
}

/* What CALI_MARK_ITERATION_BEGIN() calls. */
EXPORT int cali_begin_int(uint64_t attribute, int number);
int cali_begin_int(uint64_t attribute, int number)
{
	__typeof__(&cali_begin_int) next = NEXT(cali_begin_int);

	annotation_push(ANNOTATION_caliper, attribute, "iteration");
	return next ? next(attribute, number) : 0;
}

EXPORT int cali_end(uint64_t attribute);
int cali_end(uint64_t attribute)
{
	__typeof__(&cali_end) next = NEXT(cali_end);
	int result = next ? next(attribute) : 0;

	/* an attribute may have been begun by a function that we do not see */
	annotation_pop(ANNOTATION_caliper, attribute, NULL);
	return result;
}
