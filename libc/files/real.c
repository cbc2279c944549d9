/* SPDX-License-Identifier: BSD-3-Clause */
#include "libc/files/files.h"

#include <dlfcn.h>
#include <errno.h>

uintptr_t files_real[CALLS];

static const char *const symbols[CALLS] = {
#define SYMBOL(symbol, name) #symbol,
	FUNCTIONS(SYMBOL)
#undef SYMBOL
};

static long missing(void)
{
	errno = ENOSYS;
	return -1;
}

uintptr_t files_find(enum function f)
{
	int saved_errno = errno;
	uintptr_t found = (uintptr_t)dlsym(RTLD_NEXT, symbols[f]);

	if (!found)
		found = (uintptr_t)missing;
	files_real[f] = found;
	errno = saved_errno;
	return found;
}

/* Signal handlers and children of vfork() are not to ask the dynamic linker. */
static __attribute__((constructor)) void find_all(void)
{
	for (unsigned f = 0; f < CALLS; f++)
		if (!files_real[f])
			files_find((enum function)f);
}
