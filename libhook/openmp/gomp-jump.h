/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Defines a function with a variable number of arguments in place of libgomp's: it passes
 * its number and its caller to vftr_goacc(), and jumps to the address that this returns. It
 * keeps the argument registers of integers; no argument is a floating-point number. For
 * gomp-openacc.c only.
 */
#ifndef VFTR_LIBHOOK_OPENMP_GOMP_JUMP_H
#define VFTR_LIBHOOK_OPENMP_GOMP_JUMP_H

/* The function to jump to. */
void *vftr_goacc(unsigned call, const void *caller) __attribute__((used, visibility("hidden")));

#define GOACC_FUNCTION(name)                                                                       \
	".text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name ":\n.cfi_"          \
	"startproc\n"
#define GOACC_FUNCTION_END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

#if defined(__x86_64__)
#define GOACC_JUMP(number, name)                                                                   \
	__asm__(GOACC_FUNCTION(#name) "endbr64\n"                                                  \
				      "pushq %rdi\n"                                               \
				      "pushq %rsi\n"                                               \
				      "pushq %rdx\n"                                               \
				      "pushq %rcx\n"                                               \
				      "pushq %r8\n"                                                \
				      "pushq %r9\n"                                                \
				      "pushq %rax\n"                                               \
				      ".cfi_adjust_cfa_offset 56\n"                                \
				      "movl $" #number ", %edi\n"                                  \
				      "movq 56(%rsp), %rsi\n"                                      \
				      "call vftr_goacc\n"                                          \
				      "movq %rax, %r11\n"                                          \
				      "popq %rax\n"                                                \
				      "popq %r9\n"                                                 \
				      "popq %r8\n"                                                 \
				      "popq %rcx\n"                                                \
				      "popq %rdx\n"                                                \
				      "popq %rsi\n"                                                \
				      "popq %rdi\n"                                                \
				      ".cfi_adjust_cfa_offset -56\n"                               \
				      "jmpq *%r11\n" GOACC_FUNCTION_END(#name));
#elif defined(__aarch64__)
#define GOACC_JUMP(number, name)                                                                   \
	__asm__(GOACC_FUNCTION(#name) "stp x29, x30, [sp, #-96]!\n"                                \
				      ".cfi_adjust_cfa_offset 96\n"                                \
				      ".cfi_rel_offset x29, 0\n"                                   \
				      ".cfi_rel_offset x30, 8\n"                                   \
				      "stp x0, x1, [sp, #16]\n"                                    \
				      "stp x2, x3, [sp, #32]\n"                                    \
				      "stp x4, x5, [sp, #48]\n"                                    \
				      "stp x6, x7, [sp, #64]\n"                                    \
				      "str x8, [sp, #80]\n"                                        \
				      "mov w0, #" #number "\n"                                     \
				      "mov x1, x30\n"                                              \
				      "bl vftr_goacc\n"                                            \
				      "mov x16, x0\n"                                              \
				      "ldp x0, x1, [sp, #16]\n"                                    \
				      "ldp x2, x3, [sp, #32]\n"                                    \
				      "ldp x4, x5, [sp, #48]\n"                                    \
				      "ldp x6, x7, [sp, #64]\n"                                    \
				      "ldr x8, [sp, #80]\n"                                        \
				      "ldp x29, x30, [sp], #96\n"                                  \
				      ".cfi_restore x29\n"                                         \
				      ".cfi_restore x30\n"                                         \
				      ".cfi_adjust_cfa_offset -96\n"                               \
				      "br x16\n" GOACC_FUNCTION_END(#name));
#endif

#endif
