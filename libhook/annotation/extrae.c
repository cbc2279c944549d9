/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extrae's events: a value that is not 0 begins a region, which the next value of that type ends; 0
 * only ends it. The region is called as the value is described, else as the type, else "event
 * TYPE"; the value itself is not part of a name that nobody has described.
 */
#include <stdio.h>
#include "libhook/annotation/annotation.h"
#include "libhook/annotation/names.h"
#include "libhook/annotation/next.h"
#include "shm/fnv.h"

static struct names names;

static uint64_t handle_of(unsigned type, unsigned long long value)
{
	return fnv_bytes(fnv_bytes(FNV_BEGIN, &type, sizeof(type)), &value, sizeof(value)) | 1;
}

EXPORT void Extrae_define_event_type(unsigned *type, char *description, unsigned *n_values,
	unsigned long long *values, char **descriptions);
void Extrae_define_event_type(unsigned *type, char *description, unsigned *n_values,
	unsigned long long *values, char **descriptions)
{
	__typeof__(&Extrae_define_event_type) next = NEXT(Extrae_define_event_type);

	/* first, as what 0 is called (mostly "End") would be kept in its place */
	annotation_name_keep(&names, handle_of(*type, 0), description);
	for (unsigned i = 0; n_values && descriptions && i < *n_values && i < NAMES_MOST; i++)
		annotation_name_keep(&names, handle_of(*type, values[i]), descriptions[i]);
	if (next)
		next(type, description, n_values, values, descriptions);
}

static void set_value(unsigned type, unsigned long long value)
{
	const char *name = annotation_name_of(&names, handle_of(type, value));
	char text[32];

	annotation_pop(ANNOTATION_extrae, type, NULL);
	if (!value)
		return;
	if (!name)
		name = annotation_name_of(&names, handle_of(type, 0));
	snprintf(text, sizeof(text), "event %u", type);
	annotation_push(ANNOTATION_extrae, type, name ? name : text);
}

EXPORT void Extrae_event(unsigned type, unsigned long long value);
void Extrae_event(unsigned type, unsigned long long value)
{
	__typeof__(&Extrae_event) next = NEXT(Extrae_event);

	set_value(type, value);
	if (next)
		next(type, value);
}

EXPORT void Extrae_eventandcounters(unsigned type, unsigned long long value);
void Extrae_eventandcounters(unsigned type, unsigned long long value)
{
	__typeof__(&Extrae_eventandcounters) next = NEXT(Extrae_eventandcounters);

	set_value(type, value);
	if (next)
		next(type, value);
}
