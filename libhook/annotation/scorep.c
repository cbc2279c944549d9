/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Score-P's user regions: what SCOREP_USER_REGION_BEGIN() and the like call. A region has a handle
 * that Score-P sets, or we, if it is not there; filtered regions share one.
 */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/names.h"
#include "libhook/annotation/next.h"

typedef void scorep_define(void **handle, const char **last_name, void **last_file,
	const char *name, uint32_t type, const char *file, uint32_t line);

static struct names names;

EXPORT scorep_define SCOREP_User_RegionInit;
void SCOREP_User_RegionInit(void **handle, const char **last_name, void **last_file,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	scorep_define *next = NEXT(SCOREP_User_RegionInit);

	if (next)
		next(handle, last_name, last_file, name, type, file, line);
	else
		*handle = (void *)annotation_name_keep(&names, 0, name);
	annotation_name_keep(&names, (uint64_t)*handle, name);
}

EXPORT scorep_define SCOREP_User_RegionBegin;
void SCOREP_User_RegionBegin(void **handle, const char **last_name, void **last_file,
	const char *name, uint32_t type, const char *file, uint32_t line)
{
	scorep_define *next = NEXT(SCOREP_User_RegionBegin);

	if (next)
		next(handle, last_name, last_file, name, type, file, line);
	else
		*handle = (void *)annotation_name_keep(&names, 0, name);
	annotation_push(ANNOTATION_scorep, (uint64_t)*handle, name);
}

EXPORT void SCOREP_User_RegionEnter(void *handle);
void SCOREP_User_RegionEnter(void *handle)
{
	__typeof__(&SCOREP_User_RegionEnter) next = NEXT(SCOREP_User_RegionEnter);
	const char *name = annotation_name_of(&names, (uint64_t)handle);

	annotation_push(ANNOTATION_scorep, (uint64_t)handle, name ? name : "(Score-P region)");
	if (next)
		next(handle);
}

EXPORT void SCOREP_User_RegionEnd(void *handle);
void SCOREP_User_RegionEnd(void *handle)
{
	__typeof__(&SCOREP_User_RegionEnd) next = NEXT(SCOREP_User_RegionEnd);

	if (next)
		next(handle);
	annotation_pop(ANNOTATION_scorep, (uint64_t)handle, "SCOREP_User_RegionEnd");
}

EXPORT void SCOREP_User_RegionByNameBegin(
	const char *name, uint32_t type, const char *file, uint32_t line);
void SCOREP_User_RegionByNameBegin(const char *name, uint32_t type, const char *file, uint32_t line)
{
	__typeof__(&SCOREP_User_RegionByNameBegin) next = NEXT(SCOREP_User_RegionByNameBegin);

	annotation_begin(ANNOTATION_scorep, "", name);
	if (next)
		next(name, type, file, line);
}

EXPORT void SCOREP_User_RegionByNameEnd(const char *name);
void SCOREP_User_RegionByNameEnd(const char *name)
{
	__typeof__(&SCOREP_User_RegionByNameEnd) next = NEXT(SCOREP_User_RegionByNameEnd);

	if (next)
		next(name);
	annotation_end_name(ANNOTATION_scorep, name);
}
