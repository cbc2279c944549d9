/* SPDX-License-Identifier: BSD-3-Clause */
#include "libc/locks/locks.h"

#include <dlfcn.h>
#include <errno.h>

uintptr_t locks_real[CALLS];

static const struct {
	const char *name, *version;
} symbols[CALLS] = {
#define SYMBOL(symbol, version) {#symbol, version},
	FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static int missing(void)
{
	return ENOSYS;
}

/* dlsym() may find the condition variables of 2002, which have another layout. */
uintptr_t locks_find(enum function f)
{
	const int saved_errno = errno;
	const char *version = symbols[f].version;
	uintptr_t found = version ? (uintptr_t)dlvsym(RTLD_NEXT, symbols[f].name, version) : 0;

	if (!found)
		found = (uintptr_t)dlsym(RTLD_NEXT, symbols[f].name);
	if (!found)
		found = (uintptr_t)missing;
	locks_real[f] = found;
	errno = saved_errno;
	return found;
}

/* Signal handlers and children of vfork() are not to ask the dynamic linker. */
static __attribute__((constructor(101))) void find_all(void)
{
	for (unsigned f = 0; f < CALLS; f++)
		if (!locks_real[f])
			locks_find((enum function)f);
}
