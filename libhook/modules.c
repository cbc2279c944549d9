/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The list of loaded modules. The agent resolves addresses with it, so a
 * module is announced before it can be unloaded, and its end when it is gone.
 * dl_iterate_phdr() allocates nothing; its counters tell whether to look.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "libhook/process.h"
#include "libhook/switches.h"
#include "shm/clock.h"
#include "shm/fnv.h"

#define MODULES_MAX	    4096
#define PATHS_BYTES	    ((size_t)512 << 10)
#define LOOK_INTERVAL_TICKS 20000000u  /* about 10 ms at some GHz */
#define HOLD_NS		    100000000u /* that a thread waits until another one has looked */

/* Kept with its path, as a child of fork() may be unable to look at the list (loader-lock.c). */
struct module {
	struct wire_module about;
	uint64_t identity; /* of the file: its name and dynamic section */
	const char *path;  /* in paths, in the order of known */
	bool seen, told;
};

static struct module *known; /* MODULES_MAX entries of our own pages */
static unsigned n_known;
static char *paths; /* PATHS_BYTES behind them, the last one NUL */
static size_t paths_used;
static bool all_told;
static unsigned long long adds, subs;
static uint32_t looking;

static void read_build_id(const struct dl_phdr_info *info, struct wire_module *m)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const char *at = (const char *)(info->dlpi_addr + p->p_vaddr);
		const char *end = at + p->p_memsz;

		if (p->p_type != PT_NOTE)
			continue;
		while (end - at >= (long)sizeof(ElfW(Nhdr))) {
			const ElfW(Nhdr) *n = (const void *)at;
			const char *name = at + sizeof(*n);
			const char *desc = name + ((n->n_namesz + 3) & ~3u);

			if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
				!memcmp(name, "GNU", 4) && n->n_descsz <= WIRE_BUILD_ID) {
				memcpy(m->build_id, desc, n->n_descsz);
				m->build_id_bytes = n->n_descsz;
				return;
			}
			at = desc + ((n->n_descsz + 3) & ~3u);
		}
	}
}

static bool code_range(const struct dl_phdr_info *info, uint64_t *low, uint64_t *high)
{
	*low = UINT64_MAX;
	*high = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
			continue;
		if (info->dlpi_addr + p->p_vaddr < *low)
			*low = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > *high)
			*high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	return *high > *low;
}

/* Would two addresses of these ranges look the same in 32 bits? */
static bool same_low_half(uint64_t low, uint64_t high, const struct wire_module *m)
{
	return (uint32_t)(m->low - low) < high - low || (uint32_t)(low - m->low) < m->high - m->low;
}

/* The path, kept; without room for it the empty one. */
static const char *path_kept(const char *path)
{
	const size_t bytes = strlen(path) + 1;
	char *at = paths + paths_used;

	if (bytes == 1 || bytes >= PATHS_BYTES - paths_used)
		return paths + PATHS_BYTES - 1;
	paths_used += bytes;
	return memmove(at, path, bytes);
}

static const char *path_of(const struct dl_phdr_info *info)
{
	static char executable[4096]; /* one thread looks at a time, maybe on a small stack */

	if (info->dlpi_name && info->dlpi_name[0])
		return info->dlpi_name;
	vftr_executable_path(executable, sizeof(executable));
	return executable;
}

/* Not while the list is read: others wait for it, and the agent may keep us waiting. */
static void announce_untold(void)
{
	for (unsigned i = 0; !all_told && i < n_known; i++) {
		struct wire_module about = known[i].about;
		struct wire_text path = {{known[i].path}};

		if (!known[i].told)
			vftr_message_send(&about.head, sizeof(about), &path);
		known[i].told = true;
	}
	all_told = true;
}

static uint64_t identity_of(const struct dl_phdr_info *info)
{
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	uint64_t h = fnv_text(FNV_BEGIN ^ (uint64_t)info->dlpi_phnum, name);

	for (int i = 0; i < info->dlpi_phnum; i++)
		h = fnv_word(h, info->dlpi_phdr[i].p_filesz);
	return h;
}

struct search {
	uint64_t address, identity;
};

static int find_identity(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct search *s = context;
	uint64_t low, high;

	if (!code_range(info, &low, &high) || s->address - low >= high - low)
		return 0;
	s->identity = identity_of(info);
	return 1;
}

uint64_t vftr_module_identity(uint64_t address)
{
	struct search s = {.address = address};

	vftr_loader_walk(find_identity, &s);
	return s.identity;
}

/* First pass: which of the known ones are still there? */
static int mark_known(struct dl_phdr_info *info, size_t bytes, void *context)
{
	uint64_t low, high, identity = identity_of(info);

	adds = info->dlpi_adds;
	subs = info->dlpi_subs;
	if (!code_range(info, &low, &high))
		return 0;
	for (unsigned i = 0; i < n_known; i++)
		if (known[i].about.low == low && known[i].about.high == high &&
			known[i].identity == identity)
			known[i].seen = true;
	return 0;
}

/* Will CUDA's driver load our part when it begins? That is the best time: a process that
 * only forks those that use CUDA should not. */
static bool driver_knows(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");

	return path && strstr(path, "/libvftrace-cupti.so");
}

/* The CUDA runtime, or the driver that a program with the runtime inside of it loads. */
static void look_for_gpu(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;

	if (name && vftr_process.gpu_wanted &&
		((!strncmp(name, "libcudart.so", 12) && !driver_knows()) ||
			!strncmp(name, "libcuda.so", 10)))
		claim_u32(&vftr_process.gpu, GPU_NONE, GPU_SEEN);
}

/* Second pass: those that are new. */
static int add_new(struct dl_phdr_info *info, size_t bytes, void *context)
{
	struct wire_module m = {.head = {.kind = WIRE_MODULE}, .base = info->dlpi_addr};

	if (!code_range(info, &m.low, &m.high) ||
		(info->dlpi_name && !strncmp(info->dlpi_name, "linux-vdso", 10)))
		return 0;
	for (unsigned i = 0; i < n_known; i++)
		if (known[i].about.low == m.low)
			return 0;
	if (n_known == MODULES_MAX)
		return 0;
	for (unsigned i = 0; i < n_known; i++)
		if (same_low_half(m.low, m.high, &known[i].about))
			vftr_process.modules_wide++;
	look_for_gpu(info->dlpi_name);
	read_build_id(info, &m);
	known[n_known] = (struct module){.about = m,
		.identity = identity_of(info),
		.path = path_kept(path_of(info)),
		.seen = true};
	n_known++;
	all_told = false;
	return 0;
}

static int look_at_counters(struct dl_phdr_info *info, size_t bytes, void *changed)
{
	*(bool *)changed = info->dlpi_adds != adds || info->dlpi_subs != subs;
	return 1;
}

static void tell_gone(const struct module *m)
{
	const uint64_t low = m->about.low, high = m->about.high;
	struct wire_number gone = {.head = {.kind = WIRE_MODULE_GONE}, .number = low};

	if (m->told)
		vftr_message_send(&gone.head, sizeof(gone), NULL);
	vftr_constructs_unloaded(low, high, m->identity);
	if (vftr_openacc_unloaded)
		vftr_openacc_unloaded(low, high);
	vftr_switches_unloaded(low, high);
}

static void forget_unseen(void)
{
	unsigned kept = 0;

	paths_used = 0;
	for (unsigned i = 0; i < n_known; i++) {
		if (known[i].seen) {
			known[kept] = known[i];
			known[kept].path = path_kept(known[i].path);
			kept++;
		} else {
			tell_gone(&known[i]);
		}
	}
	n_known = kept;
}

static bool has_room(void)
{
	void *room = known;

	if (!room)
		room = mmap(NULL, MODULES_MAX * sizeof(*known) + PATHS_BYTES,
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return false;
	known = room;
	paths = (char *)&known[MODULES_MAX];
	return true;
}

/* False: the list cannot be had now. */
static bool read_list(bool patiently)
{
	bool changed = false;

	if (!vftr_loader_lock_try(patiently))
		return false;
	dl_iterate_phdr(look_at_counters, &changed);
	for (unsigned i = 0; changed && i < n_known; i++)
		known[i].seen = false;
	if (changed)
		dl_iterate_phdr(mark_known, NULL);
	vftr_loader_lock_give();
	if (!changed)
		return true;
	forget_unseen(); /* before what may have taken their place is announced */
	if (vftr_loader_lock_try(patiently)) {
		dl_iterate_phdr(add_new, NULL);
		vftr_loader_lock_give();
		return true;
	}
	adds = subs = 0; /* next time */
	return false;
}

bool vftr_modules_hold(void)
{
	const uint64_t from = clock_raw_ns();

	while (!claim_u32(&looking, 0, 1)) {
		if (clock_raw_ns() - from > HOLD_NS)
			return false;
		sched_yield();
	}
	return true;
}

void vftr_modules_release(void)
{
	store_release(&looking, 0);
}

enum how { AT_ONCE, PATIENTLY, SURELY };

/* One thread reads the list; the others go on, or wait until it has. */
static void refresh(enum how how)
{
	const bool patiently = how != AT_ONCE;

	if (how == SURELY ? !vftr_modules_hold() : !claim_u32(&looking, 0, 1))
		return;
	if (has_room()) {
		read_list(patiently);
		announce_untold();
	}
	if (vftr_process.modules_wide && !claim_u64(&vftr_own.gate, GATE_FUNCTIONS, GATE_CODE))
		claim_u64(&vftr_own.gate, GATE_SWITCHES, GATE_CODE);
	vftr_modules_release();
}

/* dl_iterate_phdr() has a lock, and a signal handler may fork: the child could not attach. */
static void refresh_whole(enum how how)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	refresh(how);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void vftr_modules_refresh(void)
{
	refresh_whole(PATIENTLY);
}

void vftr_modules_refresh_surely(void)
{
	refresh_whole(SURELY);
}

void vftr_modules_refresh_rarely(uint64_t ticks)
{
	/* stale is safe: somebody looks twice */
	if (ticks - load_relaxed(&vftr_process.modules_checked) < LOOK_INTERVAL_TICKS)
		return;
	store_relaxed(&vftr_process.modules_checked, ticks);
	refresh_whole(AT_ONCE);
}

static void forget_told(void)
{
	for (unsigned i = 0; i < n_known; i++)
		known[i].told = false;
	all_told = false;
	adds = subs = 0;
}

void vftr_modules_forget(void)
{
	forget_told();
	looking = 0;
}

void vftr_modules_tell_again(void)
{
	const bool held = vftr_modules_hold();

	forget_told();
	if (held)
		vftr_modules_release();
	vftr_modules_refresh_surely();
}
