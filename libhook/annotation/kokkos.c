/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kokkos, whose tools interface (KokkosP) loads the library that KOKKOS_TOOLS_LIBS names and looks
 * up functions kokkosp_*. Kernels, copies and fences begin and end on the same thread; sections
 * have a number, under which one thread at a time is in them.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include "libhook/annotation/annotation.h"
#include "shm/atomic.h"
#include "shm/memory.h"

#define KOKKOS_NAME   64 /* of a memory space */
#define LABEL_BYTES   256
#define SECTIONS_MOST 1024u

struct space {
	char name[KOKKOS_NAME];
};

/* The settings that Kokkos asks for: the first is whether it waits for devices around kernels. */
struct settings {
	bool global_fencing;
	bool padding[255];
};

static struct {
	char name[LABEL_BYTES];
	uint64_t region; /* while it is open */
} sections[SECTIONS_MOST];
static uint32_t n_sections;

static memory_belongs_function *belongs; /* of libvftrace-memory.so, or NULL */

/* What Kokkos calls: kokkosp_begin_WHAT(name, device, &id) and kokkosp_end_WHAT(id). */
#define KERNEL(what)                                                                               \
	EXPORT void kokkosp_begin_##what(const char *name, uint32_t device, uint64_t *id);         \
	void kokkosp_begin_##what(const char *name, uint32_t device, uint64_t *id)                 \
	{                                                                                          \
		*id = annotation_begin(ANNOTATION_kokkos, "Kokkos::" #what " ", name);             \
	}                                                                                          \
	EXPORT void kokkosp_end_##what(uint64_t id);                                               \
	void kokkosp_end_##what(uint64_t id)                                                       \
	{                                                                                          \
		annotation_end(id);                                                                \
	}
KERNEL(parallel_for)
KERNEL(parallel_reduce)
KERNEL(parallel_scan)
KERNEL(fence)

EXPORT void kokkosp_init_library(int sequence, uint64_t version, uint32_t devices, void *device);
void kokkosp_init_library(int sequence, uint64_t version, uint32_t devices, void *device)
{
	void *f = dlsym(RTLD_DEFAULT, "vftrace_memory_belongs");

	dlerror(); /* that there is none is no error of the program's */
	memcpy(&belongs, &f, sizeof(belongs));
}

EXPORT void kokkosp_finalize_library(void);
void kokkosp_finalize_library(void)
{
}

/* Not asked for: the program runs as without us, and what devices do is measured by others. */
EXPORT void kokkosp_request_tool_settings(uint32_t actions, struct settings *s);
void kokkosp_request_tool_settings(uint32_t actions, struct settings *s)
{
	if (s)
		s->global_fencing = false;
}

EXPORT void kokkosp_push_profile_region(const char *name);
void kokkosp_push_profile_region(const char *name)
{
	annotation_push(ANNOTATION_kokkos, 0, name);
}

EXPORT void kokkosp_pop_profile_region(void);
void kokkosp_pop_profile_region(void)
{
	annotation_pop(ANNOTATION_kokkos, 0, "Kokkos::Profiling::popRegion");
}

EXPORT void kokkosp_profile_event(const char *name);
void kokkosp_profile_event(const char *name)
{
	annotation_mark(ANNOTATION_kokkos, "", name);
}

EXPORT void kokkosp_allocate_data(
	struct space space, const char *label, const void *at, uint64_t bytes);
void kokkosp_allocate_data(struct space space, const char *label, const void *at, uint64_t bytes)
{
	uint64_t region = annotation_begin(ANNOTATION_kokkos, "Kokkos::allocate ", label);

	if (belongs && region)
		belongs(at, bytes);
	annotation_end(region);
}

EXPORT void kokkosp_deallocate_data(
	struct space space, const char *label, const void *at, uint64_t bytes);
void kokkosp_deallocate_data(struct space space, const char *label, const void *at, uint64_t bytes)
{
	annotation_mark(ANNOTATION_kokkos, "Kokkos::deallocate ", label);
}

EXPORT void kokkosp_begin_deep_copy(struct space to, const char *to_label, const void *to_at,
	struct space from, const char *from_label, const void *from_at, uint64_t bytes);
void kokkosp_begin_deep_copy(struct space to, const char *to_label, const void *to_at,
	struct space from, const char *from_label, const void *from_at, uint64_t bytes)
{
	static const char what[] = "Kokkos::deep_copy ", between[] = " from ";
	char text[sizeof(what) + sizeof(between) + 2 * LABEL_BYTES];
	char *end = stpcpy(text, what);

	end = stpncpy(end, to_label ? to_label : "", LABEL_BYTES - 1);
	end = stpcpy(end, between);
	end = stpncpy(end, from_label ? from_label : "", LABEL_BYTES - 1);
	*end = '\0';
	annotation_push(ANNOTATION_kokkos, 1, text);
}

EXPORT void kokkosp_end_deep_copy(void);
void kokkosp_end_deep_copy(void)
{
	annotation_pop(ANNOTATION_kokkos, 1, "Kokkos::deep_copy");
}

EXPORT void kokkosp_create_profile_section(const char *name, uint32_t *section);
void kokkosp_create_profile_section(const char *name, uint32_t *section)
{
	uint32_t i = add_relaxed_u32(&n_sections, 1);

	*section = i;
	if (i < SECTIONS_MOST)
		strncpy(sections[i].name, name ? name : "", LABEL_BYTES - 1);
}

EXPORT void kokkosp_start_profile_section(uint32_t section);
void kokkosp_start_profile_section(uint32_t section)
{
	if (section < SECTIONS_MOST)
		store_relaxed(&sections[section].region,
			annotation_begin(ANNOTATION_kokkos, "", sections[section].name));
}

EXPORT void kokkosp_stop_profile_section(uint32_t section);
void kokkosp_stop_profile_section(uint32_t section)
{
	if (section < SECTIONS_MOST)
		annotation_end(load_relaxed(&sections[section].region));
}

/* Its number is not used again. */
EXPORT void kokkosp_destroy_profile_section(uint32_t section);
void kokkosp_destroy_profile_section(uint32_t section)
{
}
