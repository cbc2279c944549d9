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
#include <signal.h>
#include <string.h>
#include "libhook/emit.h"
#include "mpi/handle.h"
#include "shm/atomic.h"
#include "shm/record.h"

_Static_assert(RECORD_ID_MPI + VFTR_MPI_N <= RECORD_ID_REGION, "more MPI functions than ids");

__thread struct mpi_open vftr_mpi_open;

uint32_t vftr_mpi_level_off;
bool vftr_mpi_multiple;

/* The code of the MPI library: where calls that are not the user's come from. Its
 * plug-in for files is ROMIO, which is a user of MPI itself. */
#define LIBRARIES 16
#define PLUG_IN	  "mca_io_"
struct code_range {
	uintptr_t low, high;
};
static struct code_range libraries[LIBRARIES];
static uint32_t n_libraries;
static uint64_t loads_seen; /* modules loaded so far, at the last look */
static uint32_t looking;

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

static bool is_known(uintptr_t code)
{
	const uint32_t n = load_acquire(&n_libraries);

	for (uint32_t i = 0; i < n; i++)
		if (code >= libraries[i].low && code < libraries[i].high)
			return true;
	return false;
}

static bool is_plug_in(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	return name && !strncmp(name + 1, PLUG_IN, sizeof(PLUG_IN) - 1);
}

static int add_library(struct dl_phdr_info *module, size_t bytes, void *unused)
{
	const uintptr_t entry[] = {(uintptr_t)PMPI_Send_there, (uintptr_t)pmpi_init_there,
		(uintptr_t)pmpi_init_f08_there, (uintptr_t)pmpir_init_f08_there};
	bool wanted = is_plug_in(module->dlpi_name);

	(void)bytes, (void)unused;
	for (unsigned i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &module->dlpi_phdr[i];
		const uintptr_t low = module->dlpi_addr + p->p_vaddr, high = low + p->p_memsz;
		const uint32_t n = n_libraries;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		for (unsigned k = 0; k < sizeof(entry) / sizeof(entry[0]); k++)
			wanted |= entry[k] >= low && entry[k] < high;
		if (wanted && n < LIBRARIES && !is_known(low)) {
			libraries[n] = (struct code_range){low, high};
			store_release(&n_libraries, n + 1); /* pairs with is_known() */
		}
	}
	return 0;
}

static int count_loads(struct dl_phdr_info *module, size_t bytes, void *loads)
{
	(void)bytes;
	*(uint64_t *)loads = module->dlpi_adds;
	return 1;
}

/* Plug-ins come when they are needed. */
static void look_for_libraries(void)
{
	uint64_t loads = 0;

	dl_iterate_phdr(count_loads, &loads);
	if (loads == load_relaxed(&loads_seen))
		return;
	spin_lock(&looking);
	dl_iterate_phdr(add_library, NULL);
	store_relaxed(&loads_seen, loads);
	spin_unlock(&looking);
}

/* With MPI linked statically, inner calls can't be told from the user's. */
static bool is_library(uintptr_t code)
{
	if (code >= (uintptr_t)fortran_start && code < (uintptr_t)fortran_end)
		return true;
	if (is_known(code))
		return true;
	look_for_libraries();
	return is_known(code);
}

static bool inner_call(size_t id, const void *caller)
{
	if (is_library((uintptr_t)caller))
		return false;
	vftr_mpi_open.user_calls++;
	vftr_enter_call_within(id, caller);
	return true;
}

/* On the stack of signal handlers, which may lie above that of the call that was interrupted. */
static bool in_handler(const char *outer)
{
	stack_t own = {.ss_size = 0};

	return !sigaltstack(NULL, &own) && (own.ss_flags & SS_ONSTACK) &&
	       (uintptr_t)outer - (uintptr_t)own.ss_sp >= own.ss_size;
}

static inline void begin(struct mpi_open *open, const char *here)
{
	open->outer = here;
	open->user_calls = 0;
	open->scratch = 0;
}

/* Another call is open. */
static bool __attribute__((noinline, cold))
call_within(const char *here, size_t id, const void *caller)
{
	struct mpi_open *open = &vftr_mpi_open;

	if (here < open->outer || in_handler(open->outer))
		return inner_call(id, caller);
	begin(open, here); /* the other one was left by a jump */
	vftr_enter_call_within(id, caller);
	return true;
}

/* Not inline: what it takes for its place is at LOOK_FRAME below the stack of its caller. */
bool __attribute__((noinline)) vftr_mpi_enter(size_t id, const void *caller)
{
	struct mpi_open *open = &vftr_mpi_open;
	const char *here = (const char *)__builtin_dwarf_cfa() - LOOK_FRAME;

	if (__builtin_expect(open->outer != NULL, 0))
		return call_within(here, id, caller);
	begin(open, here);
	return load_relaxed(&vftr_enter_call)(id, caller);
}

/* Who interrupts this from here on is not inside of the call: it is over but for its record. */
void vftr_mpi_left(enum mpi_id id)
{
	struct mpi_open *open = &vftr_mpi_open;

	if (__builtin_expect(open->user_calls, 0))
		open->user_calls--;
	else
		open->outer = NULL;
	vftr_exit_id(RECORD_ID_MPI + id);
}

const void *vftr_mpi_outer(void)
{
	return &vftr_mpi_open.outer;
}

bool vftr_mpi_recording(void)
{
	return !load_relaxed(&vftr_mpi_level_off) && vftr_messages_wanted();
}

void vftr_mpi_pcontrol(int level)
{
	if (level >= 0 && level <= 2)
		store_relaxed(&vftr_mpi_level_off, (uint32_t)(level == 0));
}
