/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A runtime that only lies in memory may never be used; one that creates its
 * workers is. It has looked for its tool by then.
 */
#include "libhook/ompt-check.h"

#include <link.h>
#include <string.h>
#include "libhook/openmp/construct.h"
#include "libhook/openmp/ompt.h"
#include "libhook/process.h"

/* of an archive only what somebody asks for is linked, and a runtime asks too late */
__attribute__((used)) static struct ompt_start_tool_result *(*const tool)(
	unsigned, const char *) = ompt_start_tool;

static uint32_t used, said;
static uintptr_t low, bytes; /* of the runtime, before it is used */
static uint64_t checked;     /* the function that threads ran last, and is no runtime's */

/* LLVM's, Intel's; not libompi, libompd, libomptarget. */
static bool is_runtime(const char *path)
{
	static const char *const names[] = {"libomp.", "libomp-", "libomp5", "libiomp5"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

struct search {
	uintptr_t address;
	uintptr_t low, bytes; /* of its segment */
	bool runtime;
};

static int look(struct dl_phdr_info *info, size_t unused, void *context)
{
	struct search *s = context;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		s->low = info->dlpi_addr + p->p_vaddr;
		s->bytes = p->p_memsz;
		if (p->p_type == PT_LOAD && s->address - s->low < s->bytes) {
			s->runtime = info->dlpi_name && is_runtime(info->dlpi_name);
			return 1;
		}
	}
	return 0;
}

void ompt_started(const void *function)
{
	struct search s = {.address = (uintptr_t)function};

	/* the program's own segment if the runtime is linked into it: that says nothing */
	if (dl_iterate_phdr(look, &s) && s.runtime) {
		low = s.low;
		bytes = s.bytes;
	}
	store_release(&used, 1);
}

bool ompt_is_runtime(const void *address)
{
	return (uintptr_t)address - low < bytes;
}

void ompt_thread_created(const void *run)
{
	struct search s = {.address = (uintptr_t)run};

	if (load_relaxed(&used) || load_relaxed(&said) || load_relaxed(&checked) == s.address ||
		!process_is_on() || thread_is_busy(&vftr_thread))
		return;
	dl_iterate_phdr(look, &s); /* unlike dladdr(): waits for no dlopen() */
	if (!s.runtime)
		store_relaxed(&checked, s.address);
	else if (claim_u32(&said, 0, 1))
		vftr_note("OpenMP constructs are missing: its runtime runs without our tool, as "
			  "OMP_TOOL=disabled is set, or another tool has taken the only place");
}
