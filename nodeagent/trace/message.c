/* SPDX-License-Identifier: BSD-3-Clause */
/* A record holds the fields that are not zero, in the order of the table. */
#include "nodeagent/trace/records.h"

#include "nodeagent/base/util.h"

enum how { PLAIN32, PLAIN64, PLUS_ONE, SIGNED };

#define FIELD(member, how)                                                                         \
	{                                                                                          \
		offsetof(struct vfd_message, member), how                                          \
	}

/* A row's position is its bit: only append. */
static const struct {
	size_t offset;
	enum how how;
} fields[] = {
	FIELD(stack, PLAIN32),
	FIELD(comm, PLAIN32),
	FIELD(peer, PLUS_ONE),
	FIELD(tag, SIGNED),
	FIELD(type, PLAIN32),
	FIELD(bytes, PLAIN64),
	FIELD(ticket, PLAIN64),
	FIELD(bytes_received, PLAIN64),
	FIELD(function, PLAIN32),
	FIELD(flags, PLAIN32),
	FIELD(match, PLAIN32),
	FIELD(sender_ticket, PLAIN64),
	FIELD(sender_thread, PLUS_ONE),
	FIELD(offset, PLAIN64),
	FIELD(self, PLAIN32),
	FIELD(sends, PLAIN32),
	FIELD(receives, PLAIN32),
};

_Static_assert((ARRAY_SIZE(fields) + 5) * VARINT_MAX + 8 <= VFD_MESSAGE_ROOM, "a record fits");
_Static_assert(sizeof(enum vfd_match) == sizeof(uint32_t), "it is stored as one");

static uint64_t value_of(const struct vfd_message *m, size_t i)
{
	const void *from = (const char *)m + fields[i].offset;
	uint32_t small;
	uint64_t large;

	if (fields[i].how == PLAIN64) {
		memcpy(&large, from, sizeof(large));
		return large;
	}
	memcpy(&small, from, sizeof(small));
	if (fields[i].how == PLUS_ONE)
		return small + 1; /* VFD_NONE is 0 */
	return fields[i].how == SIGNED ? zigzag((int32_t)small) : small;
}

unsigned char *vfd_message_put(unsigned char *to, const struct vfd_message *m, int64_t *last)
{
	uint64_t values[ARRAY_SIZE(fields)], mask = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		values[i] = value_of(m, i);
		mask |= (uint64_t)(values[i] != 0) << i;
	}
	to = varint_put(to, m->kind);
	to = varint_put(to, mask);
	to = varint_put(to, m->track);
	to = varint_put(to, zigzag(m->start - *last));
	to = varint_put(to, m->end > m->start ? (uint64_t)(m->end - m->start) : 0);
	*last = m->start;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (values[i])
			to = varint_put(to, values[i]);
	return to;
}

static void set_value(struct varint_reader *r, struct vfd_message *m, size_t i, uint64_t value)
{
	void *to = (char *)m + fields[i].offset;
	uint32_t small = (uint32_t)value;

	if (fields[i].how == PLAIN64) {
		memcpy(to, &value, sizeof(value));
		return;
	}
	if (value > UINT32_MAX)
		r->bad = true;
	if (fields[i].how == PLUS_ONE)
		small--;
	else if (fields[i].how == SIGNED)
		small = (uint32_t)unzigzag(value);
	memcpy(to, &small, sizeof(small));
}

bool vfd_message_get(struct varint_reader *r, struct vfd_message *m, int64_t *last)
{
	uint64_t kind = varint_get(r), mask = varint_get(r), length;

	*m = (struct vfd_message){
		.kind = kind < VFD_MESSAGE_KINDS ? (enum vfd_message_kind)kind : 0};
	m->track = varint_get32(r);
	m->start = (int64_t)((uint64_t)*last + (uint64_t)unzigzag(varint_get(r)));
	length = varint_get(r);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		set_value(r, m, i, mask >> i & 1 ? varint_get(r) : 0);
	*last = m->start;
	if (r->bad || kind >= VFD_MESSAGE_KINDS || mask >> ARRAY_SIZE(fields) ||
		m->match >= VFD_MATCHES || m->start < 0 ||
		length > (uint64_t)(INT64_MAX - m->start))
		return false;
	m->end = m->start + (int64_t)length;
	return true;
}
