/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our vfork(). It returns twice to the same stack, so nothing of ours may be on
 * the stack: the return address stays in a register, which the kernel keeps for
 * parent and child. A shadow stack (x86 CET) is shared by both, too, and the child's calls
 * overwrite the parent's return address on it: the parent drops that one, and goes back by a jump.
 * For interpose.c only.
 */
#ifndef VFTR_LIBHOOK_VFORK_H
#define VFTR_LIBHOOK_VFORK_H

#include <sys/syscall.h>

/* Called before the system call, and in the parent after it; returns the parent's result. */
void vftr_vfork_begin(void) __attribute__((used, visibility("hidden")));
long vftr_vfork_end(long result) __attribute__((used, visibility("hidden")));

#define FUNCTION(name)                                                                             \
	".text\n.globl " name "\n.type " name ", %function\n.p2align 4\n" name ":\n.cfi_"          \
	"startproc\n"
#define FUNCTION_END(name) ".cfi_endproc\n.size " name ", . - " name "\n"

#if defined(__x86_64__)
_Static_assert(SYS_vfork == 58, "the number below");
__asm__(FUNCTION("vfork") "endbr64\n"
			  "subq $8, %rsp\n"
			  ".cfi_adjust_cfa_offset 8\n"
			  "call vftr_vfork_begin\n"
			  "addq $8, %rsp\n"
			  ".cfi_adjust_cfa_offset -8\n"
			  "popq %rdi\n"
			  ".cfi_adjust_cfa_offset -8\n"
			  ".cfi_register %rip, %rdi\n"
			  "movl $58, %eax\n"
			  "syscall\n"
			  "pushq %rdi\n"
			  ".cfi_adjust_cfa_offset 8\n"
			  ".cfi_rel_offset %rip, 0\n"
			  "testq %rax, %rax\n"
			  "jz 1f\n"
			  "subq $8, %rsp\n"
			  ".cfi_adjust_cfa_offset 8\n"
			  "movq %rax, %rdi\n"
			  "call vftr_vfork_end\n"
			  "addq $8, %rsp\n"
			  ".cfi_adjust_cfa_offset -8\n"
			  "xorl %edx, %edx\n"
			  "rdsspq %rdx\n" /* does nothing without a shadow stack */
			  "testq %rdx, %rdx\n"
			  "jz 1f\n"
			  "movl $1, %edx\n"
			  "incsspq %rdx\n"
			  ".cfi_remember_state\n"
			  "popq %rdx\n"
			  ".cfi_adjust_cfa_offset -8\n"
			  ".cfi_register %rip, %rdx\n"
			  "jmp *%rdx\n"
			  ".cfi_restore_state\n"
			  "1: ret\n" FUNCTION_END("vfork"));
#elif defined(__aarch64__)
_Static_assert(SYS_clone == 220, "the number below");
__asm__(FUNCTION("vfork") "stp x29, x30, [sp, #-16]!\n"
			  "bl vftr_vfork_begin\n"
			  "ldp x29, x30, [sp], #16\n"
			  "mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
			  "mov x1, #0\n"
			  "mov x2, #0\n"
			  "mov x3, #0\n"
			  "mov x4, #0\n"
			  "mov x8, #220\n"
			  "svc #0\n"
			  "cbz x0, 1f\n"
			  "stp x29, x30, [sp, #-16]!\n"
			  "bl vftr_vfork_end\n"
			  "ldp x29, x30, [sp], #16\n"
			  "1: ret\n" FUNCTION_END("vfork"));
#endif

#undef FUNCTION
#undef FUNCTION_END

#endif
