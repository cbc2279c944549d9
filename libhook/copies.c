/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several copies of this library in one process, as when a program that is linked with
 * libvftrace.so runs with libvftrace-openmpi.so preloaded. The dynamic linker gives all calls of
 * the program to the copy that comes first in the global scope; a later one is called by that one
 * only, in place of what it stands in for. That it is a later one attach.c finds out.
 */
#include <dlfcn.h>
#include <stddef.h>
#include "libhook/process.h"

bool vftr_is_of_a_copy(void *address)
{
	Dl_info object, found;
	void *handle, *mark;

	if (!dladdr(address, &object) || !object.dli_fname)
		return false;
	handle = dlopen(object.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	mark = handle ? dlsym(handle, "vftrace_copy") : NULL;
	if (handle)
		dlclose(handle); /* it was loaded before, and stays so */
	return mark && dladdr(mark, &found) && found.dli_fbase == object.dli_fbase;
}
