/* SPDX-License-Identifier: BSD-3-Clause */
/* Has its event while it is being loaded, and another thread has its own. */
#include <unistd.h>

static void event(void)
{
	__asm__ volatile("");
}

__attribute__((constructor, no_instrument_function)) static void begin(void)
{
	usleep(300000);
	event();
}
