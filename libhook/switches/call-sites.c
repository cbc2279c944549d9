/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What stands before the return address is read through the same file as what is written, as it
 * need not be a call at all: a target that is no address is an error then, and no crash. Other
 * memory may be where code was that is unloaded: a byte is put back only if all of the
 * instruction is as it was left.
 */
#include "libhook/switches/call-sites.h"

#include <errno.h>
#include <string.h>

#include "libhook/process.h"
#include "libhook/switches/code.h"
#include "libhook/switches/count.h"
#include "libhook/switches/function-end.h"
#include "libhook/switches/sleds.h"

#define SITES_MAX	    4096u
#define FAILURES	    16u /* of a function: then its calls stay */
#define FUNCTION_BYTES_MOST (1u << 20)

/* Ways to get to a hook: bytes of the instruction, and what the first one becomes. */
static const struct way {
	uint8_t code[3], code_bytes; /* what it begins with; the rest are 32 bits */
	uint8_t by_address;	     /* that say where the address is */
	uint8_t jump;
	uint8_t gone;
	uint8_t sled; /* sleds.h; what changes is the distance of the jump, or the jump */
} ways[] = {
	{{0xe8}, 1, 0, 0, 0xa9, 0},		/* call rel32: test $imm32,%eax */
	{{0xff, 0x15}, 2, 1, 0, 0x3b, 0},	/* call *rel32(%rip): cmp rel32(%rip),%edx */
	{{0xe9}, 1, 0, 1, 0xc3, 0},		/* jmp rel32: ret */
	{{0xff, 0x25}, 2, 1, 1, 0xc3, 0},	/* jmp *rel32(%rip): ret */
	{{0xeb, 0x00, 0xe8}, 3, 0, 0, 0x09, 1}, /* jmp .+2; call rel32: jmp .+11 */
	{{0xe9}, 1, 0, 1, 0xc3, 1},		/* jmp rel32: ret */
};
#define N_WAYS	   (sizeof(ways) / sizeof(ways[0]))
#define CODE_BYTES 7u /* of the longest */

struct call_site {
	uint64_t at;
	uint8_t code[CODE_BYTES]; /* as it was */
	uint8_t way;
	uint8_t changed, now; /* the byte in it that is another one, and what it is */
	uint8_t number;	      /* of the function */
	bool at_end, counted;
};

/* all between vftr_code_change_begin() and its end */
static struct call_site sites[SITES_MAX];
static uint32_t n_sites;
static uint64_t allowed;		  /* also read without it, as what follows */
static bool are_back = true;		  /* all calls that are not allowed to be out */
static uint8_t failures[SWITCHES_MAX][2]; /* at the start, at the end */

/* libhook/hook.c */
__attribute__((visibility("hidden"))) void vftr_hook_enter(void *function, void *call_site);
__attribute__((visibility("hidden"))) void vftr_hook_exit(void *function, void *call_site);

static bool is_hook(uint64_t address, bool at_end)
{
	return address == (at_end ? (uintptr_t)&vftr_hook_exit : (uintptr_t)&vftr_hook_enter);
}

/* The signed 32 bits at `from`, of an instruction that ends at `end`. */
static uint64_t relative(const uint8_t *from, uint64_t end)
{
	int32_t offset;

	memcpy(&offset, from, sizeof(offset));
	return end + (uint64_t)(int64_t)offset;
}

static bool has_hook(int fd, uint64_t at, bool at_end)
{
	uint64_t address;

	return vftr_code_read(fd, at, &address, sizeof(address)) && is_hook(address, at_end);
}

/* Directly, or by an entry of a procedure linkage table: [endbr64] [bnd] jmp *rel32(%rip). */
static bool leads_to_hook(int fd, uint64_t target, bool at_end)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t code[16];
	unsigned i = 0;

	if (is_hook(target, at_end))
		return true;
	if (!vftr_code_read(fd, target, code, sizeof(code)))
		return false;
	if (!memcmp(code, endbr64, sizeof(endbr64)))
		i = sizeof(endbr64);
	i += code[i] == 0xf2;
	return code[i] == 0xff && code[i + 1] == 0x25 &&
	       has_hook(fd, relative(code + i + 2, target + i + 6), at_end);
}

static unsigned length(const struct way *w)
{
	return w->code_bytes + 4u;
}

/* The instruction at s->at, whose first bytes are at `code`, gets to the hook in this way. */
static bool is_way(int fd, const struct call_site *s, const struct way *w, const uint8_t *code)
{
	uint64_t target;

	if (memcmp(code, w->code, w->code_bytes))
		return false;
	target = relative(code + w->code_bytes, s->at + length(w));
	return w->by_address ? has_hook(fd, target, s->at_end)
			     : leads_to_hook(fd, target, s->at_end);
}

/* Which byte is to change: of a call that is to count the highest of the distance. */
static bool choose_byte(struct call_site *s)
{
	const struct way *w = &ways[s->way];
	const uint64_t end = s->at + length(w);
	const struct counted_call call = {
		relative(s->code + w->code_bytes, end), end, s->number, w->sled};

	s->now = w->gone;
	s->changed = w->sled && !w->jump;
	if (!s->counted)
		return true;
	s->changed = (uint8_t)(length(w) - 1);
	return !w->by_address && !w->jump && vftr_count_stub(&call, &s->now);
}

static bool take_out(int fd, struct call_site *s)
{
	if (n_sites == SITES_MAX || !choose_byte(s))
		return false;
	/* first, so that a child of fork() at any instruction knows of it */
	sites[n_sites] = *s;
	store_relaxed(&n_sites, n_sites + 1);
	if (vftr_code_write(fd, s->at + s->changed, &s->now, 1))
		return true;
	store_relaxed(&n_sites, n_sites - 1);
	return false;
}

/* The call in front of `after`. */
static bool remove_call(int fd, struct call_site s, uint64_t after)
{
	uint8_t before[CODE_BYTES];

	if (!vftr_code_read(fd, after - CODE_BYTES, before, CODE_BYTES))
		return false;
	for (s.way = 0; s.way < N_WAYS; s.way++) {
		const struct way *w = &ways[s.way];
		const uint8_t *code = before + CODE_BYTES - length(w);

		s.at = after - length(w);
		memcpy(s.code, code, length(w));
		if (!w->jump && !w->sled && is_way(fd, &s, w, code))
			return take_out(fd, &s);
	}
	return false;
}

/* The jumps to the hook at the end of a function without a value. */
static bool remove_jumps(int fd, struct call_site s, uint64_t function)
{
	const uint64_t end = vftr_function_end(function);
	uint8_t code[512 + CODE_BYTES];
	bool removed = false;

	if (end <= function || end - function > FUNCTION_BYTES_MOST)
		return false;
	for (uint64_t at = function; at < end; at += sizeof(code) - CODE_BYTES) {
		if (!vftr_code_read(fd, at, code, sizeof(code)))
			return removed;
		for (unsigned i = 0; i < sizeof(code) - CODE_BYTES; i++)
			for (s.way = 0; s.way < N_WAYS; s.way++) {
				s.at = at + i;
				memcpy(s.code, code + i, CODE_BYTES);
				if (ways[s.way].jump && !ways[s.way].sled &&
					s.at + length(&ways[s.way]) <= end &&
					is_way(fd, &s, &ways[s.way], code + i))
					removed |= take_out(fd, &s);
			}
	}
	return removed;
}

/* One that is to count begins as it did, and a thread that came before may want it out again. */
static bool is_out(uint64_t at)
{
	for (uint32_t i = 0; i < n_sites; i++)
		if (sites[i].at == at)
			return true;
	return false;
}

/* All sleds of the function, at its begin or at its ends, that are changed. */
static bool remove_sleds(int fd, struct call_site s, uint64_t function)
{
	bool removed = false;
	size_t i = 0;

	while ((s.at = vftr_sled_next(function, s.at_end, &i))) {
		const bool is_done = is_out(s.at);

		removed |= is_done;
		if (is_done || !vftr_code_read(fd, s.at, s.code, sizeof(s.code)))
			continue;
		for (s.way = 0; s.way < N_WAYS; s.way++)
			if (ways[s.way].sled &&
				!memcmp(s.code, ways[s.way].code, ways[s.way].code_bytes))
				removed |= take_out(fd, &s);
	}
	return removed;
}

static bool remove_hook(const struct hook_call *c)
{
	const struct call_site s = {.number = (uint8_t)c->number,
		.at_end = c->at_end,
		.counted = c->counted && !c->at_end};
	const int fd = vftr_code_open();
	bool removed;

	if (fd < 0)
		return false;
	removed = remove_call(fd, s, (uintptr_t)c->after) || remove_sleds(fd, s, c->function) ||
		  (c->at_end && remove_jumps(fd, s, c->function));
	vftr_code_close(fd);
	return removed;
}

bool vftr_call_site_remove(const struct hook_call *call)
{
	struct switches_seen_shm *seen = &vftr_process.app->switches;
	uint8_t *failed = &failures[call->number][call->at_end];
	const uint64_t bit = (uint64_t)1 << call->number;
	int saved_errno = errno;
	bool removed = false;
	struct code_change before;

#ifndef __x86_64__
	return false;
#endif
	if (!(load_relaxed(&allowed) & bit) || load_relaxed(failed) >= FAILURES ||
		load_relaxed(&n_sites) == SITES_MAX || !vftr_code_change_begin(&before))
		return false;
	if (allowed & bit) {
		removed = remove_hook(call);
		store_relaxed(failed, (uint8_t)(removed ? 0 : *failed + 1));
		store_relaxed(&seen->taken, seen->taken | (removed ? bit : 0));
	}
	vftr_code_change_end(&before);
	errno = saved_errno;
	return removed;
}

/* It stays to be put back only if the system refuses. */
static bool restore_call(int fd, const struct call_site *s)
{
	const struct way *w = &ways[s->way];
	uint8_t code[CODE_BYTES];

	if (!vftr_code_read(fd, s->at, code, length(w)))
		return true;
	if (code[s->changed] != s->now)
		return true;
	code[s->changed] = s->code[s->changed];
	if (memcmp(code, s->code, length(w)))
		return true;
	return vftr_code_write(fd, s->at + s->changed, &s->code[s->changed], 1);
}

/* Those at a function's end, or at its start, that are allowed no more. */
static void restore_calls(int fd, bool at_end)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_sites; i++)
		if (sites[i].at_end != at_end || allowed >> sites[i].number & 1 ||
			!restore_call(fd, &sites[i]))
			sites[n++] = sites[i];
	store_relaxed(&n_sites, n);
}

static bool all_are_allowed(void)
{
	for (uint32_t i = 0; i < n_sites; i++)
		if (!(allowed >> sites[i].number & 1))
			return false;
	return true;
}

bool vftr_call_sites_allow(uint64_t functions)
{
	int saved_errno = errno, fd = -1;
	struct code_change before;
	bool done;

	if (load_relaxed(&allowed) == functions && load_relaxed(&are_back))
		return true;
	if (!vftr_code_change_begin(&before))
		return false;
	store_relaxed(&allowed, functions);
	if (!all_are_allowed())
		fd = vftr_code_open();
	if (fd >= 0) {
		restore_calls(fd, true);
		restore_calls(fd, false);
		vftr_code_close(fd);
	}
	done = all_are_allowed();
	store_relaxed(&are_back, done);
	vftr_code_change_end(&before);
	errno = saved_errno;
	return done;
}

void vftr_call_sites_unloaded(uint64_t low, uint64_t high)
{
	uint32_t n = 0;
	struct code_change before;

	if (!load_relaxed(&n_sites) || !vftr_code_change_begin(&before))
		return;
	for (uint32_t i = 0; i < n_sites; i++)
		if (sites[i].at - low >= high - low)
			sites[n++] = sites[i];
	store_relaxed(&n_sites, n);
	vftr_code_change_end(&before);
}

void vftr_call_sites_attach(void)
{
	vftr_code_change_forget();
	store_relaxed(&are_back, false); /* it may have been putting them back */
}
