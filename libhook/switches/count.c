/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of what was counted, and the instructions that count where a hook was called.
 *
 * A call of the hook can only be changed by a byte at a time, as other threads run there: it is
 * that of the highest 8 bits of the distance. So a stub stands a multiple of 16 MiB from what was
 * called before, on a page of its own, and each function has another multiple.
 */
#include "libhook/switches/count.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "libhook/switches.h"
#include "libhook/switches/code.h"

#define STUBS_MAX  256u
#define STUB_BYTES 24u
#define APART	   24 /* bits: places for stubs are 2^24 bytes from each other */
#define PAGE_MASK  ((uint64_t)4095)

/* ---- records ------------------------------------------------------------------------- */

unsigned vftr_counts_due(const struct thread *t)
{
	const uint32_t n = load_relaxed(&vftr_process.switches);
	const struct switched_shm *s;
	unsigned due = 0;

	if (!n || !t->ring.base)
		return 0;
	s = ring_switched(t->ring.producer);
	for (uint32_t i = 0; i < n; i++)
		due += load_relaxed(&s->calls[i]) != s->told[i];
	return due;
}

bool vftr_counts_next(struct thread *t, uint32_t *number, uint64_t word[COUNTED_WORDS])
{
	const uint32_t n = load_relaxed(&vftr_process.switches);
	struct switched_shm *s = ring_switched(t->ring.producer);

	for (; *number < n; ++*number) {
		const uint64_t calls = load_relaxed(&s->calls[*number]);
		const uint32_t id = vftr_switches_id(*number);

		if (calls == s->told[*number])
			continue;
		if (!id) { /* it is only off */
			s->told[*number] = calls;
			continue;
		}
		word[0] = counted_head(id);
		word[1] = counted_calls((*number)++, calls);
		return true;
	}
	return false;
}

void vftr_counts_told(struct thread *t, const uint64_t word[COUNTED_WORDS])
{
	ring_switched(t->ring.producer)->told[COUNTED_NUMBER(word[1])] = word[1] & COUNTED_CALLS;
}

/* ---- counting where the hook was called ------------------------------------------------ */

static bool has_ring(const struct thread *t)
{
	return load_relaxed(&vftr_own.here) && t->ring.base &&
	       t->generation == vftr_process.generation;
}

__attribute__((noinline, cold, used)) void vftr_count_slowly(uint32_t number)
{
	struct thread *t = &vftr_thread;

	if (t->vfork_children && vftr_thread_is_vfork_child(t))
		return;
	if (t->busy || !has_ring(t)) /* attaches; a jump may have left the slow path */
		vftr_slow(clock_counter(), 0, 0, NULL);
	if (!has_ring(t) || load_relaxed(&vftr_process.pauses))
		return;
	if (!t->busy)
		count_by_path(t, ring_switched(t->ring.producer), number);
	else if (!t->own)
		add_relaxed_u64(&vftr_process.app->lost_nested, 1);
}

#if defined(__x86_64__)

__attribute__((naked, hot)) void vftr_count_here(void)
{
	__asm__ volatile("movq vftr_thread@gottpoff(%%rip), %%rcx\n\t"
			 "cmpl $0, %c[counting]+vftr_own(%%rip)\n\t"
			 "je 1f\n\t"
			 "cmpl $0, %%fs:%c[busy](%%rcx)\n\t"
			 "jne 1f\n\t"
			 "movq %%fs:%c[counts](%%rcx), %%rdx\n\t"
			 "testq %%rdx, %%rdx\n\t"
			 "je 1f\n\t"
			 "movq $0, %%fs:%c[limit](%%rcx)\n\t"
			 "incq (%%rdx,%%rax,8)\n\t"
			 "movq $0, %%fs:%c[limit](%%rcx)\n\t"
			 "ret\n"
			 "1:\tmovl %%eax, %%edi\n\t"
			 "jmp vftr_count_slowly"
			 :
			 : [counting] "i"(offsetof(struct own_pages, counting)),
			 [busy] "i"(offsetof(struct thread, busy)),
			 [counts] "i"(offsetof(struct thread, counts)),
			 [limit] "i"(offsetof(struct thread, limit)));
}

/* mov $number,%eax; movabs $vftr_count_here,%rcx; jmp *%rcx */
static void write_stub(uint8_t *code, unsigned number)
{
	const uint64_t to = (uintptr_t)&vftr_count_here;
	const uint32_t n = number;

	code[0] = 0xb8;
	memcpy(code + 1, &n, 4);
	code[5] = 0x48;
	code[6] = 0xb9;
	memcpy(code + 7, &to, 8);
	code[15] = 0xff;
	code[16] = 0xe1;
}

/* push %r11; mov $number,%r11d; jmp *0(%rip); .quad vftr_sled_count_here */
static void write_sled_stub(uint8_t *code, unsigned number)
{
	static const uint8_t plain[] = {0x41, 0x53, 0x41, 0xbb, 0, 0, 0, 0, 0xff, 0x25, 0, 0, 0, 0};
	const uint64_t to = (uintptr_t)&vftr_sled_count_here;
	const uint32_t n = number;

	memcpy(code, plain, sizeof(plain));
	memcpy(code + 4, &n, sizeof(n));
	memcpy(code + sizeof(plain), &to, sizeof(to));
}

static bool make_stub(uint64_t at, const struct counted_call *call)
{
	const uint64_t page = at & ~PAGE_MASK;
	const size_t bytes = ((at + STUB_BYTES - 1) | PAGE_MASK) + 1 - page;
	void *p = vftr_code_map(page, bytes);

	if (!p)
		return false;
	memset(p, 0xcc, bytes);
	(call->sled ? write_sled_stub : write_stub)((uint8_t *)(uintptr_t)at, call->number);
	if (!mprotect(p, bytes, PROT_READ | PROT_EXEC))
		return true;
	munmap(p, bytes);
	return false;
}

/*
 * Number of the steps of 16 MiB from the target, from -127 to 127 and not 0: near ones first, and
 * those below, as the heap grows above a program.
 */
static int step_of(unsigned i)
{
	return i < 127 ? -(int)(i + 1) : (int)(i - 126);
}

/* The distance may become so great. */
static bool is_in_reach(int64_t distance)
{
	return distance == (int32_t)distance;
}

uint64_t vftr_count_stub(const struct counted_call *call, uint8_t *byte)
{
	static struct stub {
		uint64_t target, at;
		unsigned number;
	} stubs[STUBS_MAX];
	static unsigned n;
	const uint64_t target = call->target, end = call->end;
	unsigned i;

	for (i = 0; i < n; i++)
		if (stubs[i].target == target && stubs[i].number == call->number &&
			is_in_reach((int64_t)(stubs[i].at - end)))
			break;
	for (unsigned k = 0; i == n && n < STUBS_MAX && k < 254; k++) {
		const int64_t step = (int64_t)step_of(k) * ((int64_t)1 << APART);

		if (!is_in_reach((int64_t)(target - end) + step) || (int64_t)target + step < 0 ||
			!make_stub(target + (uint64_t)step, call))
			continue;
		stubs[n++] = (struct stub){target, target + (uint64_t)step, call->number};
		break;
	}
	if (i == n)
		return 0;
	*byte = (uint8_t)((uint32_t)(stubs[i].at - end) >> APART);
	return stubs[i].at;
}

#else

uint64_t vftr_count_stub(const struct counted_call *call, uint8_t *byte)
{
	return 0;
}

#endif
