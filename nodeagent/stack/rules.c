/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/rules.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/registers.h"
#include "nodeagent/stack/unwind.h"

#define RULES_MOST 16384u /* then all are read anew */

enum where {
	IS_UNKNOWN,
	IS_SAME,
	IS_STORED,  /* at the frame's address and a distance */
	IS_ADDRESS, /* it is that itself: the stack pointer */
};

struct frame_rule {
	uint64_t low, high; /* of instructions, [low, high) */
	bool is_other;	    /* libdw is to be asked */
	bool is_none;	    /* ... which knows nothing of it either */
	uint8_t from;	    /* the register that the frame's address is told by, and ... */
	uint8_t back;	    /* that with the address in the caller */
	int32_t distance;   /* ... how far it is from that */
	uint8_t where[DWARF_REGS];
	int32_t at[DWARF_REGS];
};

struct frame_rules {
	Dwfl *dwfl;
	struct frame_rule *rule; /* by low; they do not overlap */
	size_t n, cap;
};

struct frame_rules *frame_rules_new(Dwfl *dwfl)
{
	struct frame_rules *r = xcalloc(1, sizeof(*r));

	r->dwfl = dwfl;
	return r;
}

void frame_rules_free(struct frame_rules *r)
{
	if (r)
		free(r->rule);
	free(r);
}

void frame_rules_forget(struct frame_rules *r)
{
	r->n = 0;
}

/* ---- what libdw knows ------------------------------------------------------------------- */

static bool fits_distance(Dwarf_Word distance, int32_t *to)
{
	*to = (int32_t)(Dwarf_Sword)distance;
	return *to == (Dwarf_Sword)distance;
}

static bool read_address(Dwarf_Frame *frame, struct frame_rule *rule)
{
	Dwarf_Op *op;
	size_t n;

	if (dwarf_frame_cfa(frame, &op, &n) || n != 1)
		return false;
	if (op->atom == DW_OP_bregx && op->number < DWARF_REGS) {
		rule->from = (uint8_t)op->number;
		return fits_distance(op->number2, &rule->distance);
	}
	if (op->atom < DW_OP_breg0 || op->atom >= DW_OP_breg0 + DWARF_REGS)
		return false;
	rule->from = (uint8_t)(op->atom - DW_OP_breg0);
	return fits_distance(op->number, &rule->distance);
}

static bool read_register(Dwarf_Frame *frame, struct frame_rule *rule, int number)
{
	Dwarf_Op room[3], *op;
	size_t n, more;

	if (dwarf_frame_register(frame, number, room, &op, &n))
		return false;
	rule->where[number] = op ? IS_UNKNOWN : IS_SAME;
	if (!n)
		return true;
	more = n > 1 && op[1].atom == DW_OP_plus_uconst;
	if (op[0].atom != DW_OP_call_frame_cfa ||
		!fits_distance(more ? op[1].number : 0, &rule->at[number]))
		return false;
	rule->where[number] = IS_STORED;
	if (n > 1 + more && op[1 + more].atom == DW_OP_stack_value) {
		rule->where[number] = IS_ADDRESS;
		more++;
	}
	return n == 1 + more;
}

/* It holds for no more than the code of its file, whatever the table says. */
static bool read_frame(
	Dwarf_Frame *frame, struct frame_rule *rule, Dwarf_Addr bias, Dwarf_Addr file_end)
{
	Dwarf_Addr low, high;
	bool is_signal;
	const int back = dwarf_frame_info(frame, &low, &high, &is_signal);

	/* addresses in frames around a signal are told in another way */
	if (back < 0 || back >= DWARF_REGS || is_signal || !read_address(frame, rule))
		return false;
	rule->back = (uint8_t)back;
	for (int i = 0; i < DWARF_REGS; i++)
		if (!read_register(frame, rule, i))
			return false;
	/* where a state was restored, libdw has the begin of the one that was saved: `low' may be
	 * too low */
	if (rule->low < high + bias)
		rule->high = high + bias < file_end ? high + bias : file_end;
	return true;
}

static struct frame_rule read_rule(const struct frame_rules *r, uint64_t pc)
{
	struct frame_rule rule = {.low = pc, .high = pc + 1};
	Dwfl_Module *module = dwfl_addrmodule(r->dwfl, pc);
	Dwarf_Addr bias = 0, end = 0;
	Dwarf_CFI *table = module ? dwfl_module_eh_cfi(module, &bias) : NULL;
	Dwarf_Frame *frame = NULL;

	if (!table || dwarf_cfi_addrframe(table, pc - bias, &frame))
		frame = NULL;
	if (frame)
		dwfl_module_info(module, NULL, NULL, &end, NULL, NULL, NULL, NULL);
	rule.is_none = !frame;
	rule.is_other = !frame || !read_frame(frame, &rule, bias, end);
	free(frame);
	return rule;
}

/* ---- those that are kept ---------------------------------------------------------------- */

/* The place of the first one that begins after pc. */
static size_t place_after(const struct frame_rules *r, uint64_t pc)
{
	return LOWER_BOUND(i, 0, r->n, r->rule[i].low <= pc);
}

/* Tables may contradict themselves: what is known already stays. */
static void cut_rule(struct frame_rule *rule, const struct frame_rules *r, size_t place)
{
	if (place && r->rule[place - 1].high > rule->low)
		rule->low = r->rule[place - 1].high;
	if (place < r->n && r->rule[place].low < rule->high)
		rule->high = r->rule[place].low;
}

static const struct frame_rule *rule_at(struct frame_rules *r, uint64_t pc)
{
	size_t place = place_after(r, pc);
	struct frame_rule rule;

	if (place && pc < r->rule[place - 1].high)
		return &r->rule[place - 1];
	rule = read_rule(r, pc);
	if (r->n >= RULES_MOST)
		r->n = place = 0;
	cut_rule(&rule, r, place);
	r->rule = grow(r->rule, r->n, &r->cap, sizeof(*r->rule));
	memmove(r->rule + place + 1, r->rule + place, (r->n - place) * sizeof(*r->rule));
	r->rule[place] = rule;
	r->n++;
	return &r->rule[place];
}

/* ---- a stack ----------------------------------------------------------------------------- */

struct registers {
	uint64_t value[DWARF_REGS];
	bool known[DWARF_REGS];
};

static bool read_word(const struct stack_raw *s, uint64_t begin, uint64_t address, uint64_t *word)
{
	const uint64_t at = address - begin;

	if (s->stack_bytes < sizeof(*word) || at > s->stack_bytes - sizeof(*word))
		return false;
	memcpy(word, s->stack + at, sizeof(*word));
	return true;
}

/* True if all that it needs was stored. */
static bool to_caller(const struct frame_rule *rule, const struct stack_raw *s, uint64_t begin,
	struct registers *regs)
{
	const uint64_t address = regs->value[rule->from] + (uint64_t)(int64_t)rule->distance;
	bool all = true;

	for (unsigned i = 0; i < DWARF_REGS; i++) {
		const uint64_t at = address + (uint64_t)(int64_t)rule->at[i];

		switch (rule->where[i]) {
		case IS_SAME:
			break;
		case IS_STORED:
			regs->known[i] = read_word(s, begin, at, &regs->value[i]);
			all = all && regs->known[i];
			break;
		case IS_ADDRESS:
			regs->value[i] = at;
			regs->known[i] = true;
			break;
		default:
			regs->known[i] = false;
		}
	}
	return all;
}

bool frame_rules_begins(struct frame_rules *r, uint64_t back)
{
	return rule_at(r, back - 1)->is_none && !rule_at(r, back)->is_none;
}

bool frame_rules_walk(
	struct frame_rules *r, const struct stack_raw *s, uint64_t *pcs, size_t *n, bool *whole)
{
	const uint64_t begin = stack_raw_register(s, STACK_POINTER);
	struct registers regs;
	uint64_t pc = stack_raw_pc(s);
	bool all = false;

	for (unsigned i = 0; i < DWARF_REGS; i++) {
		regs.value[i] = stack_raw_register(s, i);
		regs.known[i] = true;
	}
	*whole = false;
	for (*n = 0; *n < UNWIND_FRAMES_MAX;) {
		const struct frame_rule *rule = rule_at(r, pc);

		pcs[(*n)++] = pc;
		if (rule->is_none) {
			*whole = *n > 1 && all && frame_rules_begins(r, pc + 1);
			pcs[*n - 1] += *whole;
			return *whole;
		}
		if (rule->is_other || !regs.known[rule->from])
			return false;
		all = to_caller(rule, s, begin, &regs);
		/* the thread's first function has no caller */
		if (rule->where[rule->back] == IS_UNKNOWN) {
			*whole = all;
			return true;
		}
		if (!regs.known[rule->back])
			return true;
		if (!regs.value[rule->back]) {
			*whole = all;
			return true;
		}
		pc = regs.value[rule->back] - 1; /* in the call */
	}
	return true;
}
