/* SPDX-License-Identifier: BSD-3-Clause */
/* TAU: what TAU_START(name) and TAU_STOP(name) of its C interface call. */
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/next.h"

EXPORT void Tau_start(const char *name);
void Tau_start(const char *name)
{
	__typeof__(&Tau_start) next = NEXT(Tau_start);

	annotation_begin(ANNOTATION_tau, "", name);
	if (next)
		next(name);
}

EXPORT void Tau_stop(const char *name);
void Tau_stop(const char *name)
{
	__typeof__(&Tau_stop) next = NEXT(Tau_stop);

	if (next)
		next(name);
	annotation_end_name(ANNOTATION_tau, name);
}
