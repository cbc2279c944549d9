/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/annotation/annotation.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include "shm/atomic.h"

#define NAME_BYTES  1024u
#define STACK_BYTES 4096u

struct open {
	uint64_t key, region;
	uint32_t adapter;
};

/* A page of its own for each thread that needs one. */
struct stack {
	uint32_t depth; /* of all that are open, also of those that have no place */
	struct open at[];
};
#define OPEN_MAX ((STACK_BYTES - sizeof(struct stack)) / sizeof(struct open))

static const struct annotation_host *host;
static pthread_key_t at_end;
static bool has_key;
/* one word of static TLS, as we may be loaded late */
static __thread struct stack *here __attribute__((tls_model("initial-exec")));

static void thread_ends(void *stack)
{
	here = NULL;
	munmap(stack, STACK_BYTES);
}

__attribute__((constructor)) static void find_host(void)
{
	annotation_host_function *find;
	void *f = dlsym(RTLD_DEFAULT, "vftrace_annotation_host");

	dlerror(); /* a program without vftrace has none: that is no error of its */
	if (!f)
		return;
	has_key = !pthread_key_create(&at_end, thread_ends);
	memcpy(&find, &f, sizeof(find));
	if (find()->version == ANNOTATION_SEAM_VERSION)
		host = find();
}

/* Puts both into `to`. */
static const char *joined(const char *prefix, const char *name, char to[NAME_BYTES])
{
	size_t first = strnlen(prefix, NAME_BYTES - 1),
	       more = strnlen(name, NAME_BYTES - 1 - first);

	memcpy(to, prefix, first);
	memcpy(to + first, name, more);
	to[first + more] = '\0';
	return to;
}

static const char *or_none(const char *name)
{
	return name ? name : "";
}

uint64_t annotation_begin(enum annotation a, const char *prefix, const char *name)
{
	char text[NAME_BYTES];

	if (!host)
		return 0;
	name = or_none(name);
	return host->begin(a, prefix[0] ? joined(prefix, name, text) : name, NAME_BYTES - 1);
}

void annotation_end(uint64_t region)
{
	if (host)
		host->end(region);
}

void annotation_end_name(enum annotation a, const char *name)
{
	if (host)
		host->end_name(a, or_none(name), NAME_BYTES - 1);
}

void annotation_mark(enum annotation a, const char *prefix, const char *name)
{
	annotation_end(annotation_begin(a, prefix, name));
}

/* The calling thread's stack, or NULL. A child of fork() goes on with what its parent had open. */
static struct stack *stack_here(void)
{
	struct stack *s = here;
	int saved_errno = errno;

	if (!s) {
		s = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
		errno = saved_errno;
		if (s == MAP_FAILED)
			return NULL;
		here = s;
		if (has_key)
			pthread_setspecific(at_end, s);
	}
	return s;
}

void annotation_push(enum annotation a, uint64_t key, const char *name)
{
	struct stack *s = host ? stack_here() : NULL;
	uint32_t i;

	if (!s)
		return;
	i = s->depth++; /* before it is filled: a signal handler takes the next one */
	fence_signal();
	if (i < OPEN_MAX)
		s->at[i] = (struct open){key, annotation_begin(a, "", name), a};
}

void annotation_pop(enum annotation a, uint64_t key, const char *what)
{
	struct stack *s = host ? stack_here() : NULL;
	uint32_t i;

	if (!s)
		return;
	if (s->depth > OPEN_MAX) {
		s->depth--;
		return;
	}
	for (i = s->depth; i && (s->at[i - 1].adapter != a || s->at[i - 1].key != key); i--)
		;
	if (!i) {
		if (what)
			host->end_name(a, what, NAME_BYTES - 1);
		return;
	}
	annotation_end(s->at[i - 1].region);
	memmove(&s->at[i - 1], &s->at[i], (s->depth - i) * sizeof(s->at[0]));
	s->depth--;
}
