/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's high-level API. */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"

#define PAPI_OK 0

EXPORT int PAPI_hl_region_begin(const char *name);
int PAPI_hl_region_begin(const char *name)
{
	__typeof__(&PAPI_hl_region_begin) next = NEXT(PAPI_hl_region_begin);

	annotation_begin(ANNOTATION_papi, "", name);
	return next ? next(name) : PAPI_OK;
}

EXPORT int PAPI_hl_region_end(const char *name);
int PAPI_hl_region_end(const char *name)
{
	__typeof__(&PAPI_hl_region_end) next = NEXT(PAPI_hl_region_end);
	int result = next ? next(name) : PAPI_OK;

	annotation_end_name(ANNOTATION_papi, name);
	return result;
}
