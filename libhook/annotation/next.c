/* SPDX-License-Identifier: BSD-3-Clause */
#include "libhook/annotation/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include "shm/atomic.h"

#define PART_BITS 24 /* callers so near to each other are taken as one module */

/* Among the libraries that the caller's module was loaded with, maybe by RTLD_LOCAL. */
static void *find_beside(const char *name, const void *caller)
{
	Dl_info of_caller, ours, of_found;
	void *object, *found;

	if (!dladdr(caller, &of_caller) || !of_caller.dli_fname)
		return NULL;
	object = dlopen(of_caller.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!object)
		return NULL;
	found = dlsym(object, name);
	dlclose(object);
	if (found && dladdr(found, &of_found) && dladdr((void *)find_beside, &ours) &&
		of_found.dli_fbase == ours.dli_fbase)
		return NULL;
	return found;
}

/* The library of this address stays, also if the program closes what has brought it along: its
 * address is kept, and called later. */
static void *stays(void *found)
{
	Dl_info of_found;

	if (found && dladdr(found, &of_found) && of_found.dli_fname)
		dlopen(of_found.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	return found;
}

void *annotation_next(struct next *n, const void *caller)
{
	const uintptr_t part = ((uintptr_t)caller >> PART_BITS) + 1;
	void *found = load_relaxed(&n->found);
	int saved_errno = errno;

	if (found || load_relaxed(&n->absent) == part)
		return found;
	found = dlsym(RTLD_NEXT, n->name);
	if (!found)
		found = find_beside(n->name, caller);
	if (found)
		store_relaxed(&n->found, stays(found));
	else
		store_relaxed(&n->absent, part);
	dlerror();
	errno = saved_errno;
	return found;
}

void *annotation_variable(const char *name, const void *caller)
{
	int saved_errno = errno;
	void *found = dlsym(RTLD_DEFAULT, name);

	if (!found)
		found = find_beside(name, caller);
	stays(found);
	dlerror();
	errno = saved_errno;
	return found;
}
