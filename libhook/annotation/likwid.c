/* SPDX-License-Identifier: BSD-3-Clause */
/* LIKWID's marker API: what LIKWID_MARKER_START(tag) and LIKWID_MARKER_STOP(tag) call. */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"

EXPORT int likwid_markerStartRegion(const char *tag);
int likwid_markerStartRegion(const char *tag)
{
	__typeof__(&likwid_markerStartRegion) next = NEXT(likwid_markerStartRegion);

	annotation_begin(ANNOTATION_likwid, "", tag);
	return next ? next(tag) : 0;
}

EXPORT int likwid_markerStopRegion(const char *tag);
int likwid_markerStopRegion(const char *tag)
{
	__typeof__(&likwid_markerStopRegion) next = NEXT(likwid_markerStopRegion);
	int result = next ? next(tag) : 0;

	annotation_end_name(ANNOTATION_likwid, tag);
	return result;
}
