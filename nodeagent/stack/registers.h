/* SPDX-License-Identifier: BSD-3-Clause */
/* The registers of a sample by their numbers in DWARF. */
#ifndef VFTR_NODEAGENT_STACK_REGISTERS_H
#define VFTR_NODEAGENT_STACK_REGISTERS_H

#include <stdint.h>

struct stack_raw;

#if defined(__x86_64__)
#define DWARF_REGS    17 /* the last one is the address of the next instruction */
#define STACK_POINTER 7
#define SEPARATE_PC   0
#elif defined(__aarch64__)
#define DWARF_REGS    32
#define STACK_POINTER 31
#define SEPARATE_PC   1
#else
#define DWARF_REGS    1
#define STACK_POINTER 0
#define SEPARATE_PC   0
#endif

/* The register with this number in DWARF; number < DWARF_REGS. */
uint64_t stack_raw_register(const struct stack_raw *s, unsigned number);

#endif
