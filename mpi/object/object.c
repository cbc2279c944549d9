/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs on the application's threads; memory comes from mmap and is kept for reuse. */
#include "mpi/object/object.h"
#include <string.h>
#include <sys/mman.h>
#include "libhook/emit.h"
#include "mpi/object/comm.h"
#include "mpi/handle.h"
#include "mpi/object/targets.h"

#define CHUNK_BYTES ((size_t)16 << 10)

static struct mpi_object **bucket_of(struct mpi_objects *all, uint64_t key)
{
	return &all->bucket[handle_hash(key) % (sizeof(all->bucket) / sizeof(all->bucket[0]))];
}

static void lock(struct mpi_objects *all)
{
	if (vftr_mpi_multiple)
		spin_lock(&all->lock);
}

static void unlock(struct mpi_objects *all)
{
	if (vftr_mpi_multiple)
		spin_unlock(&all->lock);
}

static struct mpi_object *take(struct mpi_objects *all, uint64_t key)
{
	struct mpi_object **at = bucket_of(all, key), *o;

	while (*at && (*at)->key != key)
		at = &(*at)->next;
	o = *at;
	if (o)
		*at = o->next;
	return o;
}

static void put(struct mpi_objects *all, struct mpi_object *o)
{
	struct mpi_object **at = bucket_of(all, o->key);

	o->next = *at;
	*at = o;
}

static struct mpi_object *unused_object(struct mpi_objects *all)
{
	struct mpi_object *o = all->unused;

	if (!o) {
		o = mmap(NULL, CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
		if (o == MAP_FAILED)
			return NULL;
		for (size_t i = 0; i + 1 < CHUNK_BYTES / sizeof(*o); i++)
			o[i].next = &o[i + 1];
	}
	all->unused = o->next;
	memset(o, 0, sizeof(*o));
	return o;
}

static void drop_targets(struct mpi_object *o)
{
	vftr_targets_drop(&o->started_for);
	vftr_targets_drop(&o->posted_for);
}

static void discard(struct mpi_objects *all, struct mpi_object *o)
{
	if (o->locked)
		munmap(o->locked, o->ranks * sizeof(*o->locked));
	o->next = all->unused;
	all->unused = o;
}

void vftr_object_made(
	struct mpi_objects *all, uint64_t key, MPI_Comm comm, const char *text, size_t text_bytes)
{
	struct wire_object said = {
		.head.kind = all->kind == WIRE_OBJECT_FILE ? WIRE_FILE : WIRE_WINDOW,
	};
	const struct mpi_comm *on;
	struct mpi_object *o, *old;

	if (!vftr_messages_wanted())
		return;
	on = vftr_comm_find(comm);
	said.comm = on->number;
	old = vftr_object_take(all, key);
	if (old)
		drop_targets(old);
	lock(all);
	if (old)
		discard(all, old);
	o = unused_object(all);
	if (o) {
		o->key = key;
		o->number = said.number = ++all->made;
		o->ranks = on->size;
		put(all, o);
	}
	unlock(all);
	if (o)
		vftr_define(&said.head, sizeof(said), text, text_bytes);
}

struct mpi_object *vftr_object_find(struct mpi_objects *all, uint64_t key)
{
	struct mpi_object *o;

	lock(all);
	for (o = *bucket_of(all, key); o && o->key != key; o = o->next)
		;
	unlock(all);
	return o;
}

struct mpi_object *vftr_object_take(struct mpi_objects *all, uint64_t key)
{
	struct mpi_object *o;

	lock(all);
	o = take(all, key);
	unlock(all);
	return o;
}

void vftr_object_gone(struct mpi_objects *all, struct mpi_object *o)
{
	struct wire_about said = {.head.kind = WIRE_GONE, .number = o->number, .object = all->kind};

	vftr_define(&said.head, sizeof(said), NULL, 0);
	drop_targets(o);
	lock(all);
	discard(all, o);
	unlock(all);
}

void vftr_object_back(struct mpi_objects *all, struct mpi_object *o)
{
	lock(all);
	put(all, o);
	unlock(all);
}

size_t vftr_call_text(const struct mpi_call *k, char *text, size_t room)
{
	const char *from = k->text;
	size_t n;

	if (!from || !room)
		return 0;
	n = k->text_length == SIZE_MAX ? strnlen(from, room - 1) : k->text_length;
	if (k->language != LANGUAGE_C) {
		while (n && from[n - 1] == ' ')
			n--;
		while (n && *from == ' ') {
			from++;
			n--;
		}
	}
	if (n > room - 1)
		n = room - 1;
	memcpy(text, from, n);
	text[n] = '\0';
	return strlen(text) + 1;
}
