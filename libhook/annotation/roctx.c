/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ROCTX. Ranges that are pushed are popped on the same thread, and are regions. One that starts may
 * stop on any thread: its start is a region without length.
 */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"

EXPORT int roctxRangePushA(const char *message);
int roctxRangePushA(const char *message)
{
	__typeof__(&roctxRangePushA) next = NEXT(roctxRangePushA);

	annotation_push(ANNOTATION_roctx, 0, message);
	return next ? next(message) : 0;
}

EXPORT int roctxRangePop(void);
int roctxRangePop(void)
{
	__typeof__(&roctxRangePop) next = NEXT(roctxRangePop);
	int result = next ? next() : 0;

	annotation_pop(ANNOTATION_roctx, 0, "roctxRangePop");
	return result;
}

EXPORT void roctxMarkA(const char *message);
void roctxMarkA(const char *message)
{
	__typeof__(&roctxMarkA) next = NEXT(roctxMarkA);

	annotation_mark(ANNOTATION_roctx, "", message);
	if (next)
		next(message);
}

EXPORT uint64_t roctxRangeStartA(const char *message);
uint64_t roctxRangeStartA(const char *message)
{
	__typeof__(&roctxRangeStartA) next = NEXT(roctxRangeStartA);

	annotation_mark(ANNOTATION_roctx, "", message);
	return next ? next(message) : 0;
}

EXPORT void roctxRangeStop(uint64_t range);
void roctxRangeStop(uint64_t range)
{
	__typeof__(&roctxRangeStop) next = NEXT(roctxRangeStop);

	if (next)
		next(range);
}
