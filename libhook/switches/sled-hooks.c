/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hooks of sleds (sleds.h). A function has not saved anything yet where its first sled is, so
 * the hook keeps all registers, and is compiled without those for vectors. What it calls when it
 * cannot store an event at once may use them: they are kept around that.
 */
#define vftr_gated	      vftr_sled_gated
#define vftr_slow	      vftr_sled_slow
#define vftr_store_slowly     vftr_sled_store_slowly
#define vftr_overtaken	      vftr_sled_overtaken
#define vftr_count_slowly     vftr_sled_count_slowly
#define vftr_call_site_remove vftr_sled_call_site_remove
#define vftr_switches_look    vftr_sled_switches_look
#include "libhook/switches/gated.h"

#include "libhook/switches/sleds.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <stddef.h>

#define HIDDEN	     __attribute__((visibility("hidden"), used))
#define XSAVE_LEAF   0xd
#define XSAVE_HEADER 576u /* bytes of the legacy area and the header behind it */
#define VECTORS	     0xe7 /* x87, SSE, AVX, and the three components of AVX-512 */

HIDDEN uint32_t vftr_sled_vector_bytes;

/* Intel's manual, volume 1, 13.4: where each component lies. */
void vftr_sled_vectors_look(void)
{
	uint32_t a, b, c, d, bytes = XSAVE_HEADER;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
		return;
	for (unsigned i = 2; i < 8; i++)
		if (VECTORS >> i & 1 && __get_cpuid_count(XSAVE_LEAF, i, &a, &b, &c, &d) && a &&
			a + b > bytes)
			bytes = a + b;
	vftr_sled_vector_bytes = bytes;
}

HIDDEN __attribute__((hot)) void vftr_sled_record_enter(uint64_t function, const void *site);
HIDDEN __attribute__((hot)) void vftr_sled_record_exit(uint64_t function, const void *site);

__attribute__((hot)) void vftr_gated(uint64_t key, const void *site, uint64_t exit_bit)
{
	gated(key, site, exit_bit);
}

void vftr_sled_record_enter(uint64_t function, const void *site)
{
	vftr_record(0, function, vftr_is_gated(&vftr_own.gate, function), site);
}

void vftr_sled_record_exit(uint64_t function, const void *site)
{
	vftr_record(RECORD_EXIT, function, vftr_is_gated(&vftr_own.gate, function), site);
}

#define TEXT(x)	   #x
#define TEXT_OF(x) TEXT(x)
#define BEGIN(name)                                                                                \
	".globl " name "\n.hidden " name "\n.type " name ", @function\n" name ":\n"                \
	".cfi_startproc\nendbr64\n"
#define END(name) ".cfi_endproc\n.size " name ", .-" name "\n"

#define PUSH(r) "pushq %" r "\n.cfi_adjust_cfa_offset 8\n"
#define POP(r)	"popq %" r "\n.cfi_adjust_cfa_offset -8\n"
#define PUSH_ALL                                                                                   \
	PUSH("rax")                                                                                \
	PUSH("rcx") PUSH("rdx") PUSH("rsi") PUSH("rdi") PUSH("r8") PUSH("r9") PUSH("r10")
#define POP_ALL                                                                                    \
	POP("r10") POP("r9") POP("r8") POP("rdi") POP("rsi") POP("rdx") POP("rcx") POP("rax")

/*
 * site: where the function's return address is, in bytes from the stack pointer after PUSH_ALL. In
 * front of it is the sled's, if the sled is a call.
 */
#define HOOK(name, record, site)                                                                   \
	BEGIN(name)                                                                                \
	PUSH_ALL "movq %r11, %rdi\nmovq " site "(%rsp), %rsi\ncall " record "\n" POP_ALL           \
		 "ret\n" END(name)

/*
 * Calls a function with the same arguments, in up to 6 registers, and keeps the vector registers.
 * XRSTOR wants the header to be 0 behind its first 8 bytes, and XSAVE leaves that as it is.
 */
#define KEEP_VECTORS(name, real)                                                                   \
	BEGIN(name)                                                                                \
	PUSH("rbp")                                                                                \
	".cfi_offset 6, -16\nmovq %rsp, %rbp\n.cfi_def_cfa_register 6\n"                           \
	"movq %rdx, %r11\n"                                                                        \
	"movl vftr_sled_vector_bytes(%rip), %eax\n"                                                \
	"subq %rax, %rsp\n"                                                                        \
	"andq $-64, %rsp\n"                                                                        \
	"xorl %edx, %edx\n"                                                                        \
	"movq %rdx, 512(%rsp)\n"                                                                   \
	"movq %rdx, 520(%rsp)\n"                                                                   \
	"movq %rdx, 528(%rsp)\n"                                                                   \
	"movq %rdx, 536(%rsp)\n"                                                                   \
	"movq %rdx, 544(%rsp)\n"                                                                   \
	"movq %rdx, 552(%rsp)\n"                                                                   \
	"movq %rdx, 560(%rsp)\n"                                                                   \
	"movq %rdx, 568(%rsp)\n"                                                                   \
	"movl $" TEXT_OF(VECTORS) ", %eax\n"                                                       \
				  "xsave64 (%rsp)\n"                                               \
				  "movq %r11, %rdx\n"                                              \
				  "call " real "\n"                                                \
				  "xorl %edx, %edx\n"                                              \
				  "movl $" TEXT_OF(VECTORS) ", %eax\n"                             \
							    "xrstor64 (%rsp)\n"                    \
							    "leave\n.cfi_def_cfa 7, 8\n"           \
							    "ret\n" END(name)

/* offsets for the assembler, which cannot ask for them */
#define OWN_COUNTING  12
#define THREAD_LIMIT  8
#define THREAD_BUSY   112
#define THREAD_COUNTS 320
_Static_assert(offsetof(struct own_pages, counting) == OWN_COUNTING, "");
_Static_assert(offsetof(struct thread, limit) == THREAD_LIMIT, "");
_Static_assert(offsetof(struct thread, busy) == THREAD_BUSY, "");
_Static_assert(offsetof(struct thread, counts) == THREAD_COUNTS, "");

/* vftr_count_here() of count.c, with the function's number in %r11. */
#define COUNT_HERE                                                                                                                                  \
	BEGIN("vftr_sled_count_here")                                                                                                               \
	PUSH("rcx")                                                                                                                                 \
	PUSH("rdx")                                                                                                                                 \
	"movq vftr_thread@gottpoff(%rip), %rcx\n"                                                                                                   \
	"cmpl $0, " TEXT_OF(                                                                                                                        \
		OWN_COUNTING) "+vftr_own(%rip)\n"                                                                                                   \
			      "je 1f\n"                                                                                                             \
			      "cmpl $0, %fs:" TEXT_OF(                                                                                              \
				      THREAD_BUSY) "(%rcx)\n"                                                                                       \
						   "jne 1f\n"                                                                                       \
						   "movq %fs:" TEXT_OF(                                                                             \
							   THREAD_COUNTS) "(%rcx), "                                                                \
									  "%rdx\n"                                                                  \
									  "testq "                                                                  \
									  "%rdx, "                                                                  \
									  "%rdx\n"                                                                  \
									  "je 1f\n"                                                                 \
									  "movq $0, "                                                               \
									  "%fs"                                                                     \
									  ":" TEXT_OF(                                                              \
										  THREAD_LIMIT) "(%rcx)\n"                                          \
												"incq (%rdx,%r11,8)\n"                              \
												"movq $0, %fs:" TEXT_OF(                            \
													THREAD_LIMIT) "(%rcx)\n"                    \
														      "popq %rdx\npopq %rcx\nret\n" \
														      "1:\n" POP(                   \
															      "rdx")                \
															      POP("rcx")            \
																      PUSH_ALL      \
		"movl %r11d, %edi\ncall vftr_sled_count_slowly\n" POP_ALL                                                                           \
		"ret\n" END("vftr_sled_count_here")

/* clang-format off */
__asm__(".text\n.p2align 6\n"
	HOOK("vftr_sled_enter", "vftr_sled_record_enter", "72")
	".p2align 6\n"
	HOOK("vftr_sled_exit", "vftr_sled_record_exit", "64")
	".p2align 6\n"
	HOOK("vftr_sled_tail", "vftr_sled_record_exit", "72")
	COUNT_HERE
	KEEP_VECTORS("vftr_sled_slow", "vftr_slow")
	KEEP_VECTORS("vftr_sled_store_slowly", "vftr_store_slowly")
	KEEP_VECTORS("vftr_sled_overtaken", "vftr_overtaken")
	KEEP_VECTORS("vftr_sled_count_slowly", "vftr_count_slowly")
	KEEP_VECTORS("vftr_sled_call_site_remove", "vftr_call_site_remove")
	KEEP_VECTORS("vftr_sled_switches_look", "vftr_switches_look"));
/* clang-format on */

#endif
