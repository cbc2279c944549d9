/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of the user's: values with a name and a unit that the program sets, as the
 * length of a queue. The agent learns of a counter before its first value; a child of
 * fork() has another agent process, which is told of all of them again.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "libhook/emit.h"
#include "libhook/process.h"
#include "libhook/session.h"
#include "shm/message.h"

#define EXPORT __attribute__((visibility("default")))

_Static_assert((int)VFTRACE_COUNTER_REAL == (int)WIRE_COUNTER_REAL, "the same types");

struct counter {
	char name[SESSION_NAME_MAX + 1], unit[SESSION_NAME_MAX + 1];
	int type; /* enum vftrace_counter_type */
};

static struct session_list counters;
static uint32_t told, generation; /* so many, to the agent of this generation */

static bool is_text(const char *s)
{
	return s && strlen(s) <= SESSION_NAME_MAX && !strchr(s, '\n');
}

/* With vftr_session_lock() held. */
static void tell(void)
{
	struct wire_counter m = {.head.kind = WIRE_COUNTER};
	char text[2 * (SESSION_NAME_MAX + 1)];

	if (generation != vftr_process.generation)
		told = 0;
	while (told < counters.n) {
		const struct counter *c = vftr_session_at(&counters, told, sizeof(*c));
		int bytes = snprintf(text, sizeof(text), "%s%c%s", c->name, 0, c->unit) + 1;

		m.head.ticks = 0;
		m.number = told + 1;
		m.type = (uint32_t)c->type;
		vftr_define(&m.head, sizeof(m), text, (size_t)bytes);
		store_release(&told, told + 1); /* pairs with set() */
	}
	store_release(&generation, vftr_process.generation);
}

/* The one of this name, or a new one; 1 + its place, or 0: no memory. */
static uint32_t enter(const char *name, const char *unit, int type)
{
	struct counter *c;
	uint32_t i;

	for (i = 0; i < counters.n; i++) {
		c = vftr_session_at(&counters, i, sizeof(*c));
		if (c->type == type && !strcmp(c->name, name) && !strcmp(c->unit, unit))
			return i + 1;
	}
	if (i >= COUNTER_NUMBER_MAX)
		return 0;
	c = vftr_session_more(&counters, sizeof(*c));
	if (!c)
		return 0;
	strcpy(c->name, name);
	strcpy(c->unit, unit);
	c->type = type;
	return i + 1;
}

EXPORT int vftrace_counter_define(const char *name, const char *unit, int type, int *number)
{
	int code = vftr_session_ready();
	uint32_t found;

	if (code)
		return code;
	if (!is_text(name) || !name[0] || (unit && !is_text(unit)) || !number)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_counter_define: a name has 1 to %u bytes, a unit at most %u, "
			"and none of them ends a line",
			SESSION_NAME_MAX, SESSION_NAME_MAX);
	if (type != VFTRACE_COUNTER_INTEGER && type != VFTRACE_COUNTER_REAL)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_counter_define: there is no type %d", type);
	vftr_session_lock();
	found = enter(name, unit ? unit : "", type);
	tell();
	vftr_session_unlock();
	if (!found)
		return vftr_session_fail(VFTRACE_ERROR_LIMIT, NULL);
	*number = (int)found;
	return VFTRACE_OK;
}

/* True if values of this counter can be recorded; *type: its type. */
static int find(int number, int *type)
{
	const struct counter *c;
	int code = VFTRACE_OK;

	if (vftr_thread.state == THREAD_NEW || vftr_thread.generation != vftr_process.generation ||
		!process_is_on())
		code = vftr_session_ready();
	if (code)
		return code;
	c = number > 0 ? vftr_session_at(&counters, (uint32_t)number - 1, sizeof(*c)) : NULL;
	if (!c)
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT, "there is no counter %d", number);
	if (load_acquire(&generation) != vftr_process.generation ||
		load_acquire(&told) < (uint32_t)number) {
		vftr_session_lock();
		tell();
		vftr_session_unlock();
	}
	*type = c->type;
	return VFTRACE_OK;
}

static void record(int number, uint64_t bits)
{
	uint64_t ticks = vftr_session_earlier();

	vftr_emit_3(message_head(RECORD_USER_COUNTER, (uint32_t)number), bits,
		MESSAGE_MARK | (ticks ? ticks : vftr_process_ticks()));
}

static void record_real(int number, double value)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	record(number, bits);
}

EXPORT int vftrace_counter_set(int number, double value)
{
	int type, code = find(number, &type);

	if (code)
		return code;
	if (!isfinite(value) || (type == VFTRACE_COUNTER_INTEGER && !(fabs(value) < 0x1p63)))
		return vftr_session_fail(VFTRACE_ERROR_ARGUMENT,
			"vftrace_counter_set: %g is no value of counter %d", value, number);
	if (type == VFTRACE_COUNTER_REAL)
		record_real(number, value);
	else if (fabs(value) < 0x1p52)
		record(number, (uint64_t)(int64_t)(value + (value < 0 ? -0.5 : 0.5)));
	else
		record(number, (uint64_t)(int64_t)value);
	return VFTRACE_OK;
}

EXPORT int vftrace_counter_set_integer(int number, int64_t value)
{
	int type, code = find(number, &type);

	if (code)
		return code;
	if (type == VFTRACE_COUNTER_REAL)
		record_real(number, (double)value);
	else
		record(number, (uint64_t)value);
	return VFTRACE_OK;
}
