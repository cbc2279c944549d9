/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which functions of a file call the hooks, read from its machine code: calls go to a stub that
 * jumps through the word which the loader fills with the hook's address, or through that
 * word, or to the hook itself. A byte that only looks like such a call would have to hit one of
 * these addresses. x86-64 only.
 */
#include "nodeagent/doctor/hooked.h"

#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/elf-file.h"
#include "nodeagent/symbols/elf.h"

#define HOOK	  "__cyg_profile_func_enter"
#define JUMP	  6  /* bytes of ff 25 disp32 */
#define BEFORE	  5  /* bytes that may stand before the jump in a stub: endbr64, bnd */
#define CODES_MAX 64 /* executable sections */

struct code {
	uint64_t address;
	const unsigned char *bytes;
	size_t n;
	bool is_stubs;
};

struct scan {
	struct elf_file *f;
	struct code code[CODES_MAX];
	size_t n_code;
	uint64_t word; /* address of the word, or 0 */
	uint64_t stub; /* of the jump in the stub, or 0 */
	uint64_t hook; /* of the hook, or 0 */
};

static void find_code(struct scan *s)
{
	size_t names;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(s->f->elf, &names))
		return;
	while ((scn = elf_nextscn(s->f->elf, scn)) && s->n_code < CODES_MAX) {
		GElf_Shdr sh;
		Elf_Data *d;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS ||
			!(sh.sh_flags & SHF_EXECINSTR))
			continue;
		d = elf_section_data(s->f, scn);
		name = elf_strptr(s->f->elf, names, sh.sh_name);
		if (d)
			s->code[s->n_code++] = (struct code){.address = sh.sh_addr,
				.bytes = d->d_buf,
				.n = d->d_size,
				.is_stubs = name && !strncmp(name, ".plt", 4)};
	}
}

/* The symbol of the dynamic table with that index is the hook. */
static uint64_t hook_symbol(const struct scan *s)
{
	struct elf_symbols cursor;
	struct elf_symbol symbol;
	uint64_t index = 0;

	if (!elf_symbols_begin(&cursor, s->f, ELF_DYNSYM))
		return 0;
	while (!index && elf_symbols_next(&cursor, &symbol))
		if (!strcmp(symbol.name, HOOK))
			index = cursor.next - 1;
	elf_symbols_end(&cursor);
	return index;
}

static void find_word(struct scan *s)
{
	const uint64_t index = hook_symbol(s);
	Elf_Scn *scn = NULL;

	while (index && !s->word && (scn = elf_nextscn(s->f->elf, scn))) {
		GElf_Shdr sh;
		GElf_Rela rela;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_RELA || !(sh.sh_flags & SHF_ALLOC))
			continue;
		d = elf_section_data(s->f, scn);
		for (int i = 0; d && d->d_type == ELF_T_RELA && gelf_getrela(d, i, &rela); i++)
			if (GELF_R_SYM(rela.r_info) == index)
				s->word = rela.r_offset;
	}
}

/* Where four bytes point that are relative to what is behind them. */
static uint64_t call_target(const struct code *c, size_t at)
{
	int32_t distance;

	memcpy(&distance, c->bytes + at, sizeof(distance));
	return c->address + at + sizeof(distance) + (uint64_t)(int64_t)distance;
}

static bool is_through_word(
	const struct scan *s, const struct code *c, size_t at, unsigned char how)
{
	return s->word && c->bytes[at] == 0xff && c->bytes[at + 1] == how &&
	       call_target(c, at + 2) == s->word;
}

static void find_stub(struct scan *s)
{
	EACH(const struct code, c, s->code, s->n_code) {
		for (size_t i = 0; c->is_stubs && i + JUMP <= c->n; i++)
			if (is_through_word(s, c, i, 0x25))
				s->stub = c->address + i;
	}
}

static bool calls_hook(const struct scan *s, const struct code *c, size_t from, size_t to)
{
	for (size_t i = from; i + JUMP <= to; i++) {
		uint64_t where;

		if (is_through_word(s, c, i, 0x15))
			return true;
		if (c->bytes[i] != 0xe8)
			continue;
		where = call_target(c, i + 1);
		if ((s->hook && where == s->hook) ||
			(s->stub && where <= s->stub && s->stub - where <= BEFORE))
			return true;
	}
	return false;
}

static bool is_hooked(const struct scan *s, const struct elf_symbol *f)
{
	EACH(const struct code, c, s->code, s->n_code) {
		const uint64_t at = f->address - c->address;

		if (f->address < c->address || at >= c->n || f->size > c->n - at)
			continue;
		return calls_hook(s, c, at, at + f->size);
	}
	return false;
}

struct at {
	uint64_t address;
	const char *name;
};

ORDER_BY(by_address, struct at, RISING(address) ?: ALPHABETIC(name))

/* Of several names of one function the first is told. */
static void tell_all(struct at *all, size_t n, void (*tell)(void *ctx, const char *name), void *ctx)
{
	if (n)
		qsort(all, n, sizeof(*all), by_address);
	for (size_t i = 0; i < n; i++)
		if (!i || all[i].address != all[i - 1].address)
			tell(ctx, all[i].name);
}

static void find_hook(struct scan *s)
{
	struct elf_symbols cursor;
	struct elf_symbol symbol;

	if (!elf_symbols_begin(&cursor, s->f, ELF_SYMTAB))
		return;
	while (elf_symbols_next(&cursor, &symbol))
		if (symbol.defined && !strcmp(symbol.name, HOOK))
			s->hook = symbol.address;
	elf_symbols_end(&cursor);
}

void hooked_functions(const char *path, void (*tell)(void *ctx, const char *name), void *ctx)
{
	struct scan s = {0};
	struct elf_symbols cursor;
	struct elf_symbol symbol;
	struct at *all = NULL;
	size_t n = 0, cap = 0;

	if (elf_open(path, &s.f, NULL))
		return;
	if (s.f->header.e_machine == EM_X86_64) {
		find_code(&s);
		find_word(&s);
		find_stub(&s);
		find_hook(&s);
	}
	if ((s.word || s.hook) && elf_symbols_begin(&cursor, s.f, ELF_SYMTAB)) {
		while (elf_symbols_next(&cursor, &symbol)) {
			if (!symbol.defined || !symbol.code || !symbol.size ||
				!is_hooked(&s, &symbol))
				continue;
			all = grow(all, n, &cap, sizeof(*all));
			all[n++] = (struct at){symbol.address, symbol.name};
		}
		tell_all(all, n, tell, ctx);
		elf_symbols_end(&cursor);
	}
	free(all);
	elf_close(s.f);
}
