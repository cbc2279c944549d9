/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI-IO: a FILE record for each read and write. A blocking one is recorded
 * after the call with the bytes really moved, which only the status tells; a
 * non-blocking one before it with the bytes asked for, and its DONE has the
 * real ones. Of the split collectives, begin records nothing. To open a file is a collective call
 * on its communicator.
 */
#include <limits.h>
#include "libhook/emit.h"
#include "mpi/handle.h"
#include "mpi/object/object.h"
#include "mpi/recorder/record.h"
#include "mpi/recorder/recorders.h"
#include "mpi/recorder/request.h"
#include "mpi/recorder/status.h"
#include "shm/message.h"

static struct mpi_objects files = {.kind = WIRE_OBJECT_FILE};

enum {
	READ = MESSAGE_READ,
	WRITE = MESSAGE_WRITE,
	AT = 1 << 4,	/* at an offset of its own */
	LATER = 1 << 5, /* has a request */
	BEGIN = 1 << 6, /* split collective */
};

#define ROW(name) [VFTR_MPI_FILE_##name / 2]
static const uint8_t operations[VFTR_MPI_N / 2] = {
	ROW(READ) = READ,
	ROW(READ_ALL) = READ,
	ROW(READ_AT) = READ | AT,
	ROW(READ_AT_ALL) = READ | AT,
	ROW(READ_SHARED) = READ,
	ROW(READ_ORDERED) = READ,
	ROW(WRITE) = WRITE,
	ROW(WRITE_ALL) = WRITE,
	ROW(WRITE_AT) = WRITE | AT,
	ROW(WRITE_AT_ALL) = WRITE | AT,
	ROW(WRITE_SHARED) = WRITE,
	ROW(WRITE_ORDERED) = WRITE,
	ROW(IREAD) = READ | LATER,
	ROW(IREAD_ALL) = READ | LATER,
	ROW(IREAD_AT) = READ | AT | LATER,
	ROW(IREAD_AT_ALL) = READ | AT | LATER,
	ROW(IREAD_SHARED) = READ | LATER,
	ROW(IWRITE) = WRITE | LATER,
	ROW(IWRITE_ALL) = WRITE | LATER,
	ROW(IWRITE_AT) = WRITE | AT | LATER,
	ROW(IWRITE_AT_ALL) = WRITE | AT | LATER,
	ROW(IWRITE_SHARED) = WRITE | LATER,
	ROW(READ_ALL_BEGIN) = READ | BEGIN,
	ROW(READ_AT_ALL_BEGIN) = READ | AT | BEGIN,
	ROW(READ_ORDERED_BEGIN) = READ | BEGIN,
	ROW(WRITE_ALL_BEGIN) = WRITE | BEGIN,
	ROW(WRITE_AT_ALL_BEGIN) = WRITE | AT | BEGIN,
	ROW(WRITE_ORDERED_BEGIN) = WRITE | BEGIN,
	ROW(READ_ALL_END) = READ,
	ROW(READ_AT_ALL_END) = READ | AT,
	ROW(READ_ORDERED_END) = READ,
	ROW(WRITE_ALL_END) = WRITE,
	ROW(WRITE_AT_ALL_END) = WRITE | AT,
	ROW(WRITE_ORDERED_END) = WRITE,
};
#undef ROW

static uint64_t key_at(const struct mpi_call *k, const void *at)
{
	if (!at)
		return HANDLE_KEY(MPI_FILE_NULL);
	return k->language == LANGUAGE_C ? HANDLE_KEY(*(const MPI_File *)at)
					 : HANDLE_KEY(PMPI_File_f2c(*(const MPI_Fint *)at));
}

void vftr_begin_file_open(struct mpi_call *k)
{
	vftr_meeting_begin(k, false);
}

void vftr_end_file_open(struct mpi_call *k)
{
	char name[PATH_MAX];

	vftr_meeting_end(k);
	if (k->rc == MPI_SUCCESS)
		vftr_object_made(&files, key_at(k, k->files), k->comm, name,
			vftr_call_text(k, name, sizeof(name)));
}

void vftr_begin_file_close(struct mpi_call *k)
{
	k->own = vftr_object_take(&files, key_at(k, k->files));
}

void vftr_end_file_close(struct mpi_call *k)
{
	if (!k->own)
		return;
	if (k->rc == MPI_SUCCESS)
		vftr_object_gone(&files, k->own);
	else
		vftr_object_back(&files, k->own);
}

static void emit_file(const struct mpi_call *k, uint64_t offset, uint64_t bytes)
{
	const struct mpi_object *f = k->own;
	const uint32_t flags = operations[k->id / 2] & (READ | WRITE);

	vftr_emit((const uint64_t[EMIT_WORDS]){
		message_head(RECORD_FILE, k->id),
		message_pair(f->number, k->request_number),
		offset,
		message_last(flags, bytes),
	});
}

static uint64_t bytes_moved(const struct mpi_call *k)
{
	MPI_Status room;

	return status_count(status_at(k, 0, &room));
}

static uint64_t offset_of(const struct mpi_call *k)
{
	return operations[k->id / 2] & AT ? (uint64_t)k->offset : MESSAGE_NO_OFFSET;
}

void vftr_begin_file_io(struct mpi_call *k)
{
	const uint8_t how = operations[k->id / 2];
	uint64_t size;
	uint32_t type;

	k->own = vftr_mpi_recording() ? vftr_object_find(&files, HANDLE_KEY(k->file)) : NULL;
	k->request_number = 0;
	if (!k->own)
		return;
	if (how & LATER) {
		k->request_number = vftr_request_number();
		size = vftr_type_size(k->type, &type);
		emit_file(k, offset_of(k), k->count > 0 ? (uint64_t)k->count * size : 0);
	} else if (!(how & BEGIN)) {
		want_status(k);
	}
}

void vftr_end_file_io(struct mpi_call *k)
{
	const uint8_t how = operations[k->id / 2];
	struct mpi_object *f = k->own;

	if (!f)
		return;
	if (k->rc != MPI_SUCCESS) {
		record_failed(k->rc);
	} else if (how & LATER) {
		struct request r = {.number = k->request_number,
			.kind = REQUEST_FILE,
			.flags = how & (READ | WRITE)};

		vftr_request_put(call_request(k, k->request, 0), &r);
	} else if (how & BEGIN) {
		f->offset = offset_of(k);
	} else {
		emit_file(k, offset_of(k), bytes_moved(k));
	}
}

void vftr_begin_file_end(struct mpi_call *k)
{
	k->own = vftr_mpi_recording() ? vftr_object_find(&files, HANDLE_KEY(k->file)) : NULL;
	k->request_number = 0;
	if (k->own)
		want_status(k);
}

void vftr_end_file_end(struct mpi_call *k)
{
	const struct mpi_object *f = k->own;

	if (!f)
		return;
	if (k->rc != MPI_SUCCESS)
		record_failed(k->rc);
	else
		emit_file(k, operations[k->id / 2] & AT ? f->offset : MESSAGE_NO_OFFSET,
			bytes_moved(k));
}
