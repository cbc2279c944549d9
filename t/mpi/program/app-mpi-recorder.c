/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stands in for libhook behind the MPI wrappers: notes what they record, in
 * order, and writes it to the file $RECORD.PID, one `+MPI_Name' or `-MPI_Name'
 * a line, and `rank R of N' where they report it. Written at once, so nothing
 * is lost to MPI_Abort.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "libhook/emit.h"
#include "mpi_id.h"
#include "shm/record.h"

static void note(const char *format, ...)
{
	static int fd = -1;
	char line[128], path[4096];
	va_list ap;

	if (fd < 0 && getenv("RECORD")) {
		snprintf(path, sizeof(path), "%s.%d", getenv("RECORD"), (int)getpid());
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	}
	va_start(ap, format);
	const int n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (fd >= 0 && write(fd, line, n) != n)
		abort();
}

void vftr_enter_id(uint32_t id)
{
	note("+%s\n", vftr_mpi_names[id - RECORD_ID_MPI]);
}

static bool enter_call(size_t function, const void *site)
{
	vftr_enter_id((uint32_t)(RECORD_ID_MPI + function));
	return true;
}

bool (*vftr_enter_call)(size_t function, const void *site) = enter_call;

void vftr_enter_call_within(size_t function, const void *site)
{
	vftr_enter_id((uint32_t)(RECORD_ID_MPI + function));
}

void vftr_exit_id(uint32_t id)
{
	note("-%s\n", vftr_mpi_names[id - RECORD_ID_MPI]);
}

void vftr_before_abort(void)
{
}

void vftr_set_rank(struct wire_rank *place, const char *library)
{
	note("rank %d of %d\n", place->rank, place->size);
}

/* what is said of communication is tested elsewhere */
void vftr_emit(const uint64_t *word)
{
	(void)word;
}

void vftr_emit_1(uint64_t a)
{
	(void)a;
}

void vftr_emit_3(uint64_t a, uint64_t b, uint64_t c)
{
	(void)a, (void)b, (void)c;
}

void vftr_emit_4(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	(void)a, (void)b, (void)c, (void)d;
}

void vftr_emit_6(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
}

void vftr_receive_begin(uint64_t receive, uint64_t from)
{
	(void)receive, (void)from;
}

void vftr_receive_end(void)
{
}

void vftr_look_at(const struct mpi_look *look)
{
	(void)look;
}

void vftr_define(struct wire_head *message, size_t fixed, const void *data, size_t bytes)
{
	(void)message, (void)fixed, (void)data, (void)bytes;
}

void vftr_stay_off(const char *what, const char *more)
{
	(void)what;
	(void)more;
	abort(); /* the MPI is the right one */
}

bool vftr_active(void)
{
	return true;
}

uint32_t vftr_messages_off;

bool vftr_lengths_wanted(void)
{
	return true;
}

bool vftr_pcontrol_wanted(void)
{
	return false;
}

void vftr_pcontrol_region(int level, const char *name, const void *site)
{
}
