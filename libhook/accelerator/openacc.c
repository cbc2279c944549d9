/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The OpenACC tool: what a runtime tells us of becomes frames on the calling thread. A
 * runtime that starts calls acc_register_library(); libgomp does so for the libraries
 * in ACC_PROFLIB only, so there we register at its first call (gomp-openacc.c), once we
 * know that it is wanted. Callbacks may run with a lock of the runtime held: they never
 * register or unregister anything. Without OpenACC nothing here runs.
 */
#include "libhook/accelerator/openacc-tool.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "libhook/openmp/construct.h"
#include "libhook/emit.h"
#include "libhook/process.h"

#define EXPORT	 __attribute__((visibility("default")))
#define OPEN_MAX 24u /* frames begun on one thread and not ended */

static uint32_t registered; /* all callbacks are, or will be in a moment */
static uint32_t settled;    /* whether they have to be is known, and done */

struct open {
	uint32_t region;
	uint16_t event;
	uint16_t has_bytes;
};

static __thread struct {
	const void *caller; /* of the runtime, for one that does not tell lines; or NULL */
	uint32_t n;
	struct open open[OPEN_MAX];
} here __attribute__((tls_model("initial-exec")));

/* ---- what the runtime tells ---- */

#define HAS(s, member)                                                                             \
	((s) && (s)->valid_bytes >= 0 &&                                                           \
		(size_t)(s)->valid_bytes >=                                                        \
			__builtin_offsetof(__typeof__(*(s)), member) + sizeof((s)->member))

static const struct {
	bool is_known, ends;
} events[OPENACC_EVENT_LAST] = {
#define EVENT(event, number, name, has_end, column) [number] = {true, has_end},
	OPENACC_EVENTS(EVENT)
#undef EVENT
};

static bool is_data(uint32_t event)
{
	return (event >= OPENACC_CREATE_EVENT && event <= OPENACC_FREE_EVENT) ||
	       event == OPENACC_UPLOAD_EVENT || event == OPENACC_DOWNLOAD_EVENT;
}

static uint64_t bytes_of(uint32_t event, const struct acc_event *e)
{
	return is_data(event) && HAS(e, bytes) ? e->bytes & ~RECORD_OPENACC_MARK : 0;
}

static const char *text(const char *s)
{
	return s ? s : "";
}

static uint32_t line(int n)
{
	return n > 0 ? (uint32_t)n : 0;
}

static struct openacc_site site_of(
	uint32_t event, const struct acc_prof *p, const struct acc_event *e)
{
	struct openacc_site s = {.event = event,
		.parent = HAS(e, parent_construct) ? (uint32_t)e->parent_construct
						   : OPENACC_NO_PARENT,
		.file = text(HAS(p, src_file) ? p->src_file : NULL),
		.function = text(HAS(p, func_name) ? p->func_name : NULL),
		.line = line(HAS(p, line_no) ? p->line_no : 0),
		.last = line(HAS(p, end_line_no) ? p->end_line_no : 0),
		.name = ""};

	if ((is_data(event) || event == OPENACC_LAUNCH_EVENT) && HAS(e, var_name))
		s.name = text(e->var_name);
	if (!s.file[0] && s.parent != OPENACC_RUNTIME_API)
		s.address = (uint64_t)(uintptr_t)here.caller;
	return s;
}

/* ---- frames ---- */

static void moved(struct open *o, uint64_t bytes)
{
	const uint64_t word[EMIT_WORDS] = {RECORD_OPENACC, RECORD_OPENACC_MARK | bytes};

	if (!bytes || o->has_bytes)
		return;
	o->has_bytes = true;
	vftr_emit(word);
}

/* An event begins. If too many are open, the outermost is forgotten. */
static void begin(uint32_t event, const struct acc_prof *p, const struct acc_event *e)
{
	const struct openacc_site s = site_of(event, p, e);
	struct open o = {.region = vftr_openacc_region(&s), .event = (uint16_t)event};

	if (!o.region)
		return;
	vftr_construct_enter(o.region);
	moved(&o, bytes_of(event, e));
	if (!events[event].ends) {
		vftr_construct_exit(o.region);
		return;
	}
	if (here.n == OPEN_MAX)
		memmove(here.open, here.open + 1, --here.n * sizeof(here.open[0]));
	here.open[here.n++] = o;
}

/* An event ends, and with it all open events inside of it. */
static void end(uint32_t event, const struct acc_event *e)
{
	uint32_t n = here.n;

	while (n && here.open[n - 1].event != event)
		n--;
	if (!n)
		return;
	if (n == here.n)
		moved(&here.open[n - 1], bytes_of(event, e));
	vftr_construct_exit(here.open[n - 1].region);
	here.n = n - 1;
	if (!here.n && event != OPENACC_DEVICE_INIT_EVENT && event != OPENACC_WAIT_EVENT)
		here.caller = NULL; /* what comes from elsewhere must not have its line */
}

static void on_event(const struct acc_prof *p, const struct acc_event *e, void *api)
{
	int number = p ? p->event_type : e ? e->event_type : 0;

	if (!vftr_active() || thread_is_busy(&vftr_thread) || number <= 0 ||
		number >= OPENACC_EVENT_LAST)
		return;
	/* its end is not the first event of a process that has used nothing of it */
	if ((number == OPENACC_RUNTIME_SHUTDOWN_EVENT || number == OPENACC_DEVICE_SHUTDOWN_EVENT) &&
		load_relaxed(&vftr_process.state) == PROCESS_NEW)
		return;
	if (events[number].is_known)
		begin((uint32_t)number, p, e);
	else
		end((uint32_t)number - 1, e);
}

/* ---- registration ---- */

static void for_all(acc_registration f)
{
	for (int event = 1; event < OPENACC_EVENT_LAST; event++)
		f(event, on_event, ACC_REG);
}

/*
 * Another tool may stand behind us under the same name, but it has its own turn if
 * the runtime has found us by ACC_PROFLIB. That of libgomp does nothing.
 */
static void ask_next(acc_registration reg, acc_registration unreg, void *lookup)
{
	const char *listed = getenv("ACC_PROFLIB");
	void (*next)(acc_registration, acc_registration, void *);
	void *found = dlsym(RTLD_NEXT, "acc_register_library");

	if (!found || (listed && strstr(listed, "libvftrace")))
		return;
	memcpy(&next, &found, sizeof(next));
	next(reg, unreg, lookup);
}

EXPORT void acc_register_library(acc_registration reg, acc_registration unreg, void *lookup)
{
	static uint32_t calls;
	bool wanted = process_is_on() ? vftr_process.openacc_wanted : !vftr_user_has_switched_off();

	if (add_relaxed_u32(&calls, 1))
		return;
	if (reg && vftr_active() && wanted && claim_u32(&registered, 0, 1))
		for_all(reg);
	ask_next(reg, unreg, lookup);
}

/* The library may be loaded without its names being global. */
static void *find_registration(const void *function)
{
	Dl_info info;
	void *handle, *found = NULL;

	if (!dladdr(function, &info) || !info.dli_fname)
		return NULL;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		found = dlsym(handle, "acc_prof_register");
		dlclose(handle); /* it was loaded before, and stays so */
	}
	return found;
}

/* To be called when the agent has said whether OpenACC is wanted. */
static void settle(const void *function)
{
	acc_registration reg;
	void *found;

	vftr_slow(clock_counter(), 0, 0, NULL); /* attaches if need be */
	if (!process_is_on() || !claim_u32(&settled, 0, 1) || !vftr_process.openacc_wanted)
		return;
	found = find_registration(function);
	if (!found || !claim_u32(&registered, 0, 1))
		return;
	memcpy(&reg, &found, sizeof(reg));
	for_all(reg);
}

void vftr_openacc_called(const void *caller, const void *function)
{
	int saved_errno = errno;

	here.caller = caller;
	if (!load_relaxed(&settled) && vftr_active() && !thread_is_busy(&vftr_thread))
		settle(function);
	errno = saved_errno;
}
