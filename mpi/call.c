/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs on the application's threads, around each MPI call. The guard against
 * counting an MPI library's calls of itself is the stack address of the
 * outermost call and not a depth, so that an error handler that leaves a call
 * by longjmp or an exception does not end the recording: the next call made
 * from as far up the stack is not taken for an inner one.
 */
#include "mpi/call.h"
#include <dlfcn.h>
#include <link.h>
#include "libhook/emit.h"
#include "mpi/scratch.h"
#include "shm/atomic.h"
#include "shm/record.h"

_Static_assert(RECORD_ID_MPI + VFTR_MPI_N <= RECORD_ID_REGION, "more MPI functions than ids");

#define TLS __thread __attribute__((tls_model("initial-exec")))

static TLS const char *outer_call;
static TLS unsigned user_calls; /* recorded calls that run inside of it */

static uint32_t level_off; /* by MPI_Pcontrol */
bool vftr_mpi_multiple;

/* The code of the MPI library: where calls that are not the user's come from. */
#define LIBRARIES 8
struct code_range {
	uintptr_t low, high;
};
static struct code_range libraries[LIBRARIES];
static uint32_t n_libraries; /* 0: not looked for yet */

/* Our wrappers of Fortran: where those calls seem to come from that MPI's Fortran
 * makes as the last thing it does, by a jump. */
extern const char fortran_start[] __asm__("__start_vftr_fortran")
	__attribute__((weak, visibility("hidden")));
extern const char fortran_end[] __asm__("__stop_vftr_fortran")
	__attribute__((weak, visibility("hidden")));

/* Entries of MPI's libraries; those that the program lacks are NULL. */
extern int PMPI_Send_there(void) __asm__("PMPI_Send") __attribute__((weak));
extern int pmpi_init_there(void) __asm__("pmpi_init_") __attribute__((weak));
extern int pmpi_init_f08_there(void) __asm__("pmpi_init_f08_") __attribute__((weak));
extern int pmpir_init_f08_there(void) __asm__("pmpir_init_f08_") __attribute__((weak));

static int add_library(struct dl_phdr_info *module, size_t bytes, void *found)
{
	uintptr_t entry[] = {(uintptr_t)PMPI_Send_there, (uintptr_t)pmpi_init_there,
		(uintptr_t)pmpi_init_f08_there, (uintptr_t)pmpir_init_f08_there};
	uint32_t *n = found;

	(void)bytes;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		uintptr_t low = module->dlpi_addr + p->p_vaddr, high = low + p->p_memsz;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		for (unsigned k = 0; k < sizeof(entry) / sizeof(entry[0]); k++)
			if (entry[k] >= low && entry[k] < high) {
				if (*n < LIBRARIES)
					libraries[(*n)++] = (struct code_range){low, high};
				break;
			}
	}
	return 0;
}

/* Where MPI is linked in statically, inner calls can't be told from the user's. */
static bool is_library(uintptr_t code)
{
	uint32_t n = load_acquire(&n_libraries);

	if (code >= (uintptr_t)fortran_start && code < (uintptr_t)fortran_end)
		return true;
	if (!n) {
		dl_iterate_phdr(add_library, &n);
		store_release(&n_libraries, n ? n : 1);
	}
	for (uint32_t i = 0; i < n; i++)
		if (code >= libraries[i].low && code < libraries[i].high)
			return true;
	return false;
}

static bool __attribute__((noinline, cold)) inner_call(enum mpi_id id, const void *caller)
{
	if (is_library((uintptr_t)caller))
		return false;
	user_calls++;
	vftr_enter_id(RECORD_ID_MPI + id);
	return true;
}

bool vftr_mpi_enter(enum mpi_id id, const void *caller)
{
	const char *here = __builtin_frame_address(0);

	if (__builtin_expect(outer_call && here < outer_call, 0))
		return inner_call(id, caller);
	outer_call = here;
	user_calls = 0;
	vftr_scratch_used = 0;
	vftr_enter_id(RECORD_ID_MPI + id);
	return true;
}

void vftr_mpi_exit(bool outermost, enum mpi_id id)
{
	if (!outermost)
		return;
	vftr_exit_id(RECORD_ID_MPI + id);
	if (__builtin_expect(user_calls, 0))
		user_calls--;
	else
		outer_call = NULL;
}

bool vftr_mpi_recording(void)
{
	return !load_relaxed(&level_off) && vftr_messages_wanted();
}

void vftr_mpi_pcontrol(int level)
{
	if (level >= 0 && level <= 2)
		store_relaxed(&level_off, (uint32_t)(level == 0));
}
