/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/registers.h"

#include "nodeagent/stack/events.h"
#include "nodeagent/stack/unwind.h"

#if defined(__x86_64__)
static const unsigned char stored_at[DWARF_REGS] = {
	0, 3, 2, 1, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19, 8};
#define PC_AT 8
#elif defined(__aarch64__)
static const unsigned char stored_at[DWARF_REGS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13,
	14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
#define PC_AT 32
#else
static const unsigned char stored_at[DWARF_REGS] = {0};
#define PC_AT 0
#endif

uint64_t stack_raw_register(const struct stack_raw *s, unsigned number)
{
	return s->regs[stored_at[number]];
}

uint64_t stack_raw_pc(const struct stack_raw *s)
{
	return s->regs[PC_AT];
}
