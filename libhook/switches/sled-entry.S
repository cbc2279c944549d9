/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where changed sleds lead to (sleds.h). A thunk has put %r11 onto the stack and the function's
 * address into it. A function has saved nothing where its sleds are, and may have anything in its
 * registers: all of them are kept, but for the flags, which are not in use there.
 */
#include "libhook/switches/sled-entry.h"

#if defined(__x86_64__)

.macro begin name
	.globl	\name
	.hidden	\name
	.type	\name, @function
	.p2align 6
\name:
	.cfi_startproc
	endbr64
.endm

.macro end name
	.cfi_endproc
	.size	\name, . - \name
.endm

.macro put register
	pushq	%\register
	.cfi_adjust_cfa_offset 8
.endm

.macro take register
	popq	%\register
	.cfi_adjust_cfa_offset -8
.endm

.macro put_all
	put	rax
	put	rcx
	put	rdx
	put	rsi
	put	rdi
	put	r8
	put	r9
	put	r10
.endm

.macro take_all
	take	r10
	take	r9
	take	r8
	take	rdi
	take	rsi
	take	rdx
	take	rcx
	take	rax
.endm

/*
 * site: where the function's return address is, in bytes from the stack pointer after put_all. In
 * front of it is the sled's, if the sled is a call.
 */
.macro hook name, record, site
	begin	\name
	.cfi_adjust_cfa_offset 8
	put_all
	movq	%r11, %rdi
	movq	\site(%rsp), %rsi
	call	\record
	take_all
	take	r11
	ret
	end	\name
.endm

/*
 * A function of up to 6 arguments that returns an integer or nothing; the vector registers are
 * kept. XRSTOR wants the header to be 0 behind its first 8 bytes, and XSAVE leaves that as it is
 * (Intel's manual, volume 1, 13.7 and 13.8).
 */
.macro keeping_vectors name, real
	begin	\name
	put	rbp
	.cfi_offset rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	movq	%rdx, %r11
	movl	vftr_sled_vector_bytes(%rip), %eax
	subq	%rax, %rsp
	andq	$-64, %rsp
	xorl	%edx, %edx
	.irp	byte, 512, 520, 528, 536, 544, 552, 560, 568
	movq	%rdx, \byte(%rsp)
	.endr
	movl	$VECTORS, %eax
	xsave64	(%rsp)
	movq	%r11, %rdx
	call	\real
	movq	%rax, %r11
	xorl	%edx, %edx
	movl	$VECTORS, %eax
	xrstor64 (%rsp)
	movq	%r11, %rax
	leave
	.cfi_def_cfa rsp, 8
	ret
	end	\name
.endm

	.text
	hook	vftr_sled_enter, vftr_sled_record_enter, 80
	hook	vftr_sled_exit, vftr_sled_record_exit, 72
	hook	vftr_sled_tail, vftr_sled_record_exit, 80

/* vftr_count_here() of count.c, with the function's number in %r11, which is on the stack, too. */
	begin	vftr_sled_count_here
	.cfi_adjust_cfa_offset 8
	put	rcx
	put	rdx
	movq	vftr_thread@gottpoff(%rip), %rcx
	cmpl	$0, OWN_COUNTING+vftr_own(%rip)
	je	1f
	cmpl	$0, %fs:THREAD_BUSY(%rcx)
	jne	1f
	movq	%fs:THREAD_COUNTS(%rcx), %rdx
	testq	%rdx, %rdx
	je	1f
	movq	$0, %fs:THREAD_LIMIT(%rcx)
	incq	(%rdx, %r11, 8)
	movq	$0, %fs:THREAD_LIMIT(%rcx)
	.cfi_remember_state
	take	rdx
	take	rcx
	take	r11
	ret
	.cfi_restore_state
1:	take	rdx
	take	rcx
	put_all
	movl	%r11d, %edi
	call	vftr_sled_count_slowly
	take_all
	take	r11
	ret
	end	vftr_sled_count_here

	keeping_vectors vftr_sled_slow, vftr_slow
	keeping_vectors vftr_sled_store_slowly, vftr_store_slowly
	keeping_vectors vftr_sled_overtaken, vftr_overtaken
	keeping_vectors vftr_sled_count_slowly, vftr_count_slowly
	keeping_vectors vftr_sled_call_site_remove, vftr_call_site_remove
	keeping_vectors vftr_sled_switches_look, vftr_switches_look

#endif

	.section .note.GNU-stack, "", %progbits
