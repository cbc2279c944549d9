/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ITT, by oneTBB, oneDNN and others. Its static part in the program loads the library that
 * INTEL_LIBITTNOTIFY64 names and hands over a table of functions, of which we replace those below.
 * Tasks and frames begin and end on the same thread. What users test for NULL gets an object that
 * is never followed: libomp ends the program if it is missing.
 */
#include <string.h>
#include "libhook/annotation/annotation.h"
#include "shm/atomic.h"
#include "shm/fnv.h"

#define TEXT_BYTES   128u
#define OBJECTS_MOST 1024u

/* ---- as in the public interface of ITT, version 3 ---- */

struct itt_id {
	unsigned long long d1, d2, d3;
};
/* The beginnings of a domain and a string handle. */
struct itt_domain {
	int flags; /* 0: its calls are left out */
	const char *name;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_domain *next;
};
struct itt_string {
	const char *text;
	const void *wide;
	int extra1;
	void *extra2;
	struct itt_string *next;
};
struct itt_function {
	const char *name;
	void **pointer;
	void *init, *null;
	int group;
};
struct itt_global {
	unsigned char magic[8];
	unsigned long major, minor, build;
	long initialized, mutex_initialized, atomic_counter;
	char mutex[40]; /* pthread_mutex_t */
	void *library, *error_handler;
	const char **dll_path;
	struct itt_function *functions;
};

/* ---- domains and names, which stay ---- */

enum kind { DOMAIN, STRING };

struct object {
	union {
		struct itt_domain domain;
		struct itt_string string;
	};
	uint64_t hash; /* of kind and text; published last */
	char text[TEXT_BYTES];
};

static struct object objects[OBJECTS_MOST];
static uint32_t n_objects;

/* Not NULL when there are too many: users of earlier versions follow what they get. */
static struct object others[] = {
	[DOMAIN] = {.domain = {.flags = 1, .name = "(frame)"}},
	[STRING] = {.string = {.text = "(task)"}},
};

/* The object with this text, the same each time, as some ask for it at each task. */
static struct object *object_of(enum kind kind, const char *text)
{
	const uint64_t hash = fnv_text(fnv_word(FNV_BEGIN, kind), text ? text : "") | 1;
	const uint32_t n = load_relaxed(&n_objects);
	struct object *o;
	uint32_t i;

	for (i = 0; i < n && i < OBJECTS_MOST; i++)
		if (load_acquire(&objects[i].hash) == hash) /* pairs with the release below */
			return &objects[i];
	i = n < OBJECTS_MOST ? add_relaxed_u32(&n_objects, 1) : n;
	if (i >= OBJECTS_MOST)
		return &others[kind];
	o = &objects[i];
	strncpy(o->text, text ? text : "", TEXT_BYTES - 1);
	if (kind == DOMAIN)
		o->domain = (struct itt_domain){.flags = 1, .name = o->text};
	else
		o->string = (struct itt_string){.text = o->text};
	store_release(&o->hash, hash);
	return o;
}

static struct itt_domain *domain_create(const char *name)
{
	return &object_of(DOMAIN, name)->domain;
}

static struct itt_string *string_handle_create(const char *text)
{
	return &object_of(STRING, text)->string;
}

/* ---- what becomes regions ---- */

static void task_begin(
	const struct itt_domain *d, struct itt_id id, struct itt_id parent, struct itt_string *name)
{
	annotation_push(ANNOTATION_itt, (uint64_t)d, name ? name->text : "(task)");
}

static void task_end(const struct itt_domain *d)
{
	annotation_pop(ANNOTATION_itt, (uint64_t)d, "__itt_task_end");
}

static void frame_begin(const struct itt_domain *d, struct itt_id *id)
{
	annotation_push(ANNOTATION_itt, (uint64_t)d + 1, d ? d->name : "(frame)");
}

static void frame_end(const struct itt_domain *d, struct itt_id *id)
{
	annotation_pop(ANNOTATION_itt, (uint64_t)d + 1, "__itt_frame_end_v3");
}

static void *stack_caller_create(void)
{
	return objects;
}

static void do_nothing(void)
{
}

static const struct {
	const char *name;
	void *function;
} ours[] = {
	{"__itt_domain_create", domain_create},
	{"__itt_domain_createA", domain_create},
	{"__itt_string_handle_create", string_handle_create},
	{"__itt_string_handle_createA", string_handle_create},
	{"__itt_task_begin", task_begin},
	{"__itt_task_end", task_end},
	{"__itt_frame_begin_v3", frame_begin},
	{"__itt_frame_end_v3", frame_end},
	{"__itt_stack_caller_create", stack_caller_create},
	{"__itt_stack_caller_destroy", do_nothing},
	{"__itt_stack_callee_enter", do_nothing},
	{"__itt_stack_callee_leave", do_nothing},
};

EXPORT void __itt_api_init(struct itt_global *g, int groups);
void __itt_api_init(struct itt_global *g, int groups)
{
	for (struct itt_function *f = g ? g->functions : NULL; f && f->name; f++)
		for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
			if (!strcmp(f->name, ours[i].name))
				*f->pointer = ours[i].function;
}
