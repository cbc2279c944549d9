/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpi/object/type.h"
#include <sys/mman.h>
#include "libhook/emit.h"
#include "mpi/handle.h"
#include "mpi/object/quiet.h"

static const struct {
	const MPI_Datatype *handle;
	uint32_t index;
} predefined[] = {
#define TYPE(index, name) {&(const MPI_Datatype){name}, index},
#include "mpi_type.h"
#undef TYPE
};

/* Open addressing; at most half full. */
struct type_table {
	struct type *at;
	uint64_t mask, used;
};

static const struct type none; /* of handle 0 */
__thread const struct type *vftr_type_last = &none;

static struct type_table named;	  /* the predefined ones; never changes once it is full */
static struct type_table derived; /* the others, under the lock */
static uint32_t lock;

static inline void enter(void)
{
	if (vftr_mpi_multiple)
		spin_lock(&lock);
}

static inline void leave(void)
{
	if (vftr_mpi_multiple)
		spin_unlock(&lock);
}

static struct type *find(const struct type_table *t, uint64_t key)
{
	uint64_t i = handle_hash(key) & t->mask;

	while (t->at[i].key && t->at[i].key != key)
		i = (i + 1) & t->mask;
	return &t->at[i];
}

static bool grow(struct type_table *t)
{
	struct type *old = t->at;
	uint64_t n = old ? t->mask + 1 : 0, more = n ? n * 2 : 256;
	void *at = mmap(NULL, more * sizeof(*old), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return false;
	t->at = at;
	t->mask = more - 1;
	for (uint64_t i = 0; i < n; i++)
		if (old[i].key)
			*find(t, old[i].key) = old[i];
	if (old)
		munmap(old, n * sizeof(*old));
	return true;
}

static void put(struct type_table *t, MPI_Datatype handle, uint64_t size, uint32_t index)
{
	uint64_t key = HANDLE_KEY(handle);
	struct type *place;

	if (!key || ((!t->at || t->used >= (t->mask + 1) / 2) && !grow(t)))
		return;
	place = find(t, key);
	t->used += !place->key;
	*place = (struct type){key, size, index};
}

/* The gap is closed, so that searches never meet one. */
static void take_out(struct type_table *t, struct type *place)
{
	uint64_t gap = (uint64_t)(place - t->at), i = gap;

	for (;;) {
		uint64_t home;

		i = (i + 1) & t->mask;
		if (!t->at[i].key)
			break;
		home = handle_hash(t->at[i].key) & t->mask;
		if (((i - home) & t->mask) < ((i - gap) & t->mask))
			continue;
		t->at[gap] = t->at[i];
		gap = i;
	}
	t->at[gap].key = 0;
	t->used--;
}

static uint64_t size_of(MPI_Datatype type)
{
	MPI_Count n = 0;

	return PMPI_Type_size_x(type, &n) == MPI_SUCCESS && n > 0 ? (uint64_t)n : 0;
}

/*
 * A handle may have two names. That of the later row counts, as MPI_LONG_LONG_INT does in
 * Vftrace; but MPI_C_COMPLEX is the name of MPI_C_FLOAT_COMPLEX, too.
 */
static bool is_second_name(size_t i, MPI_Datatype handle)
{
	return i && handle == MPI_C_COMPLEX && *predefined[i - 1].handle == handle;
}

void vftr_type_start(void)
{
	if (named.at)
		return;
	for (size_t i = 0; i < sizeof(predefined) / sizeof(predefined[0]); i++)
		if (*predefined[i].handle != MPI_DATATYPE_NULL &&
			!is_second_name(i, *predefined[i].handle))
			put(&named, *predefined[i].handle, size_of(*predefined[i].handle),
				predefined[i].index);
}

static bool find_derived(MPI_Datatype type, uint64_t *size)
{
	const struct type *t = NULL;

	enter();
	if (derived.at)
		t = find(&derived, HANDLE_KEY(type));
	if (t && t->key)
		*size = t->size;
	leave();
	return t && t->key;
}

/*
 * A type that is not in the table: committed before we were there, or a handle that was freed and
 * is still good, as MPICH's MPI_Type_get_contents gives the same one again. 0: it is bad.
 */
static __attribute__((noinline, cold)) uint64_t ask_for_size(MPI_Datatype type)
{
	struct quiet quiet;
	MPI_Count n = 0;
	int rc;

	if (!HANDLE_KEY(type) || type == MPI_DATATYPE_NULL || !vftr_quiet_begin(&quiet))
		return 0;
	rc = PMPI_Type_size_x(type, &n);
	vftr_quiet_end(&quiet);
	if (rc != MPI_SUCCESS || n < 0)
		return 0;
	vftr_type_back(type, (uint64_t)n);
	return (uint64_t)n;
}

uint64_t vftr_type_look_up(MPI_Datatype type, uint32_t *index)
{
	uint64_t key = HANDLE_KEY(type), size = 0;
	const struct type *t;

	*index = 0;
	if (__builtin_expect(!named.at, 0))
		vftr_mpi_started(); /* by a call that did not come through here */
	if (named.at && (t = find(&named, key))->key) {
		vftr_type_last = t;
		*index = t->index;
		return t->size;
	}
	return find_derived(type, &size) ? size : ask_for_size(type);
}

void vftr_type_learn(MPI_Datatype type)
{
	uint64_t size;

	if (type == MPI_DATATYPE_NULL || !vftr_messages_wanted() ||
		(named.at && find(&named, HANDLE_KEY(type))->key))
		return;
	size = size_of(type);
	enter();
	put(&derived, type, size, 0);
	leave();
}

bool vftr_type_forget(MPI_Datatype type, uint64_t *size)
{
	struct type *t = NULL;
	bool known = false;

	enter();
	if (derived.at)
		t = find(&derived, HANDLE_KEY(type));
	if (t && t->key) {
		*size = t->size;
		take_out(&derived, t);
		known = true;
	}
	leave();
	return known;
}

void vftr_type_back(MPI_Datatype type, uint64_t size)
{
	enter();
	put(&derived, type, size, 0);
	leave();
}
