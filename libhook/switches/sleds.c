/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sled on x86-64, and what it becomes:
 *
 *	begin, and before a tail call	jmp .+11; 9 bytes	jmp .+2; call thunk; 4 bytes
 *	end				ret; 10 bytes		jmp thunk; 6 bytes
 *
 * Other threads may run there. So first all is written behind the byte that nobody passes yet: the
 * second one, which is the distance of the jump, or the ret; then that byte. A thunk has the
 * function's address, and goes on to the hook, which is too far away for a call.
 */
#include "libhook/switches/sleds.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "libhook/process.h"
#include "libhook/switches.h"
#include "libhook/switches/code.h"
#include "shm/system.h"

#define SECTION	      "xray_instr_map"
#define SECTIONS_READ 32u /* at once */
#define THUNK_BYTES   24u
#define SLED_BYTES    11u
#define WINDOW_BYTES  ((size_t)64 << 10) /* of code that is written at once */
#define APART	      ((uint64_t)16 << 20)
#define REACH	      ((uint64_t)2047 << 20)

#if defined(__x86_64__)

/* As the compiler writes it, unaligned. From version 2 on both addresses are relative to their own
 * places. */
struct entry {
	uint64_t sled, function;
	uint8_t kind, always, version, padding[13];
};
_Static_assert(sizeof(struct entry) == 32, "LLVM's");

enum place { BEGIN, END, TAIL, NO_PLACE };

static const uint8_t place_of_kind[] = {BEGIN, END, TAIL, BEGIN}; /* the last one with arguments */

struct sled {
	uint64_t at, function;
	enum place place; /* NO_PLACE: it stays as it is */
};

/* Set by the first thread that looks, in the program's constructors or as the process attaches. */
static struct {
	const uint8_t *map;
	size_t n;	 /* rows */
	uint8_t *places; /* by row: enum place */
	uint8_t *thunks; /* room for where the hooks are, then one thunk for each row of the map */
	size_t thunks_bytes;
	uint64_t low, high; /* of the code */
	bool looked, changed;
} program;

/* ---- the compiler's table ---------------------------------------------------------------- */

static struct entry entry_at(size_t i)
{
	const uint8_t *at = program.map + i * sizeof(struct entry);
	struct entry e;

	memcpy(&e, at, sizeof(e));
	if (e.version >= 2) {
		e.sled += (uintptr_t)at + offsetof(struct entry, sled);
		e.function += (uintptr_t)at + offsetof(struct entry, function);
	}
	return e;
}

static struct sled sled_at(size_t i)
{
	const struct entry e = entry_at(i);

	return (struct sled){e.sled, e.function, program.places[i]};
}

static bool read_all(int fd, void *to, size_t bytes, uint64_t at)
{
	return sys_pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool is_map(int fd, const ElfW(Shdr) * s, uint64_t names)
{
	char name[sizeof(SECTION)];

	return s->sh_flags & SHF_ALLOC && s->sh_type == SHT_PROGBITS &&
	       s->sh_size >= sizeof(struct entry) && s->sh_size % sizeof(struct entry) == 0 &&
	       read_all(fd, name, sizeof(name), names + s->sh_name) &&
	       !memcmp(name, SECTION, sizeof(name));
}

/* The section of this name in the file: its address there and its bytes. */
static bool find_section(int fd, uint64_t *address, uint64_t *bytes)
{
	ElfW(Shdr) names, s[SECTIONS_READ];
	ElfW(Ehdr) e;

	if (!read_all(fd, &e, sizeof(e), 0) || e.e_shentsize != sizeof(s[0]) ||
		e.e_shstrndx >= e.e_shnum ||
		!read_all(fd, &names, sizeof(names), e.e_shoff + e.e_shstrndx * sizeof(s[0])))
		return false;
	for (unsigned i = 0; i < e.e_shnum; i++) {
		const unsigned k = i % SECTIONS_READ, left = e.e_shnum - i;

		if (!k && !read_all(fd, s,
				  (left < SECTIONS_READ ? left : SECTIONS_READ) * sizeof(s[0]),
				  e.e_shoff + i * sizeof(s[0])))
			return false;
		if (is_map(fd, &s[k], names.sh_offset)) {
			*address = s[k].sh_addr;
			*bytes = s[k].sh_size;
			return true;
		}
	}
	return false;
}

static bool is_in(const struct dl_phdr_info *info, uint64_t at, uint64_t bytes, uint32_t flags)
{
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && at >= p->p_vaddr &&
			bytes <= p->p_memsz && at - p->p_vaddr <= p->p_memsz - bytes)
			return true;
	}
	return false;
}

/* Of the program, which comes first. */
static int find_map(struct dl_phdr_info *info, size_t unused, void *context)
{
	const int fd = sys_open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	uint64_t address, bytes;

	if (fd >= 0 && find_section(fd, &address, &bytes) && is_in(info, address, bytes, PF_R)) {
		program.map = (const uint8_t *)(uintptr_t)(info->dlpi_addr + address);
		program.n = bytes / sizeof(struct entry);
	}
	if (fd >= 0)
		sys_close(fd);
	return 1;
}

/* As the compiler leaves it. A debugger may have set a breakpoint there. */
static bool is_plain(const struct sled *s)
{
	const uint8_t *code = (const uint8_t *)(uintptr_t)s->at;

	return s->place == END ? code[0] == 0xc3 : code[0] == 0xeb && code[1] == 0x09;
}

/*
 * In front of a jump that depends on a comparison: the flags are in use there, the function may go
 * on behind it, and its red zone may be in use.
 */
static bool is_conditional(const struct sled *s)
{
	const uint8_t *next = (const uint8_t *)(uintptr_t)s->at + SLED_BYTES;

	return s->place == TAIL &&
	       ((next[0] == 0x0f && next[1] >> 4 == 0x8) || next[0] >> 4 == 0x7);
}

/* Rows of one function follow each other: from i to the end of them. */
static size_t rows_of(size_t i)
{
	const uint64_t function = entry_at(i).function;

	while (++i < program.n && entry_at(i).function == function)
		;
	return i;
}

/* Places of the rows of a function; false if one of them is in no code of the program. */
static bool place_function(const struct dl_phdr_info *info, size_t from, size_t to)
{
	bool all = true;

	for (size_t i = from; i < to; i++) {
		const struct entry e = entry_at(i);
		const struct sled s = {e.sled, e.function,
			e.kind < sizeof(place_of_kind) ? place_of_kind[e.kind] : NO_PLACE};

		program.places[i] = s.place;
		if (s.place == NO_PLACE)
			continue;
		if (!is_in(info, s.at - info->dlpi_addr, SLED_BYTES + (s.place == TAIL ? 2 : 0),
			    PF_X | PF_R))
			return false;
		all &= is_plain(&s) && !is_conditional(&s);
	}
	if (!all)
		memset(program.places + from, NO_PLACE, to - from);
	return true;
}

/* context: what is true if functions can be recorded: at their begins and at their ends. */
static int place_all(struct dl_phdr_info *info, size_t unused, void *context)
{
	bool *fit = context, begins = false, ends = false;

	for (size_t i = 0, next; i < program.n; i = next) {
		next = rows_of(i);
		if (!place_function(info, i, next))
			return 1;
	}
	program.low = UINT64_MAX;
	for (size_t i = 0; i < program.n; i++) {
		const struct sled s = sled_at(i);

		if (s.place == NO_PLACE)
			continue;
		begins |= s.place == BEGIN;
		ends |= s.place != BEGIN;
		program.low = s.at < program.low ? s.at : program.low;
		program.high = s.at + SLED_BYTES > program.high ? s.at + SLED_BYTES : program.high;
	}
	*fit = begins && ends;
	return 1;
}

uint64_t vftr_sled_next(uint64_t function, bool at_end, size_t *i)
{
	while (program.changed && *i < program.n) {
		const struct sled s = sled_at((*i)++);

		if (s.function == function && s.place != NO_PLACE && (s.place != BEGIN) == at_end)
			return s.at;
	}
	return 0;
}

/* ---- thunks ------------------------------------------------------------------------------ */

/* Below the code first, as the heap grows above it. */
static uint8_t *map_near(size_t bytes)
{
	const uint64_t low = program.low & ~(APART - 1), high = program.high;
	void *p = NULL;

	for (uint64_t k = 1; !p && k * APART + bytes < REACH; k++) {
		if (low > k * APART + bytes && high - (low - k * APART - bytes) < REACH)
			p = vftr_code_map(
				(low - k * APART - bytes) & ~(uint64_t)(SEGMENT_PAGE - 1), bytes);
		if (!p && high - low + k * APART + bytes < REACH)
			p = vftr_code_map((high + k * APART) & ~(APART - 1), bytes);
	}
	return p;
}

static uint8_t *thunk(size_t i)
{
	return program.thunks + THUNK_BYTES * (2 + i);
}

/* push %r11; movabs $function,%r11; jmp *to(%rip). The hook takes %r11 off the stack. */
static void write_thunk(uint8_t *at, uint64_t function, const uint8_t *to)
{
	static const uint8_t code[] = {0x41, 0x53, 0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0x25};
	const int32_t distance = (int32_t)(to - (at + sizeof(code) + 4));

	memcpy(at, code, sizeof(code));
	memcpy(at + 4, &function, 8);
	memcpy(at + sizeof(code), &distance, 4);
}

static bool make_thunks(void)
{
	const uint64_t hooks[NO_PLACE] = {(uintptr_t)&vftr_sled_enter, (uintptr_t)&vftr_sled_exit,
		(uintptr_t)&vftr_sled_tail};
	const size_t wanted = THUNK_BYTES * (2 + program.n);

	_Static_assert(sizeof(hooks) <= 2 * THUNK_BYTES, "before the first thunk");
	program.thunks_bytes = (wanted + SEGMENT_PAGE - 1) & ~(size_t)(SEGMENT_PAGE - 1);
	program.thunks = map_near(program.thunks_bytes);
	if (!program.thunks)
		return false;
	memcpy(program.thunks, hooks, sizeof(hooks));
	for (size_t i = 0; i < program.n; i++) {
		const struct sled s = sled_at(i);

		if (s.place != NO_PLACE)
			write_thunk(
				thunk(i), s.function, program.thunks + s.place * sizeof(hooks[0]));
	}
	return !mprotect(program.thunks, program.thunks_bytes, PROT_READ | PROT_EXEC);
}

static void *get_memory(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Some systems open the file and refuse what is written: a byte is written as it is. */
static bool may_write(void)
{
	struct code_change before;
	bool may = false;
	int fd;

	if (!vftr_code_change_begin(&before))
		return false;
	fd = vftr_code_open();
	if (fd >= 0) {
		may = vftr_code_write(fd, program.low, (const void *)(uintptr_t)program.low, 1);
		vftr_code_close(fd);
	}
	vftr_code_change_end(&before);
	return may;
}

static bool prepare(void)
{
	bool fit = false;

	program.places = get_memory(program.n);
	if (!program.places)
		return false;
	vftr_loader_walk(place_all, &fit);
	vftr_sled_vectors_look();
	return fit && vftr_sled_vector_bytes && may_write() && make_thunks();
}

static void forget(void)
{
	if (program.places)
		munmap(program.places, program.n);
	if (program.thunks)
		munmap(program.thunks, program.thunks_bytes);
	program.places = program.thunks = NULL;
	program.n = 0;
}

bool vftr_sleds_are_there(void)
{
	if (!program.looked)
		vftr_loader_walk(find_map, NULL);
	program.looked = true;
	return program.n != 0;
}

bool vftr_sleds_prepare(void)
{
	if (vftr_sleds_are_there() && !program.thunks && !prepare())
		forget();
	return program.n != 0;
}

/* ---- the change -------------------------------------------------------------------------- */

/* What sled i becomes: the byte that lets the program in, or all others. */
static void change_sled(uint8_t *code, const struct sled *s, size_t i, bool let_in)
{
	static const uint8_t no_effect[] = {0x0f, 0x1f, 0x40, 0x00};
	const unsigned end = s->place == END ? 5 : 7; /* of the call or jump */
	const int32_t distance = (int32_t)((uintptr_t)thunk(i) - (s->at + end));

	if (let_in && s->place == END) {
		code[0] = 0xe9;
	} else if (let_in) {
		code[1] = 0x00;
	} else {
		memcpy(code + end - sizeof(distance), &distance, sizeof(distance));
		if (s->place == END)
			return;
		code[2] = 0xe8;
		memcpy(code + end, no_effect, sizeof(no_effect));
	}
}

/* Changes the sleds of rows from i on that are in one window, and returns the next row, or 0 if the
 * system refuses. */
static size_t change_window(int fd, size_t i)
{
	static uint8_t code[WINDOW_BYTES]; /* one thread changes code at a time */
	const uint64_t at = sled_at(i).at;
	uint64_t end = at;
	size_t next = i;

	for (; next < program.n; next++) {
		const struct sled s = sled_at(next);

		if (s.place == NO_PLACE)
			continue;
		if (s.at < at || s.at + SLED_BYTES > at + WINDOW_BYTES)
			break;
		end = s.at + SLED_BYTES > end ? s.at + SLED_BYTES : end;
	}
	memcpy(code, (const void *)(uintptr_t)at, end - at);
	for (unsigned let_in = 0; let_in < 2; let_in++) {
		for (size_t k = i; k < next; k++) {
			const struct sled s = sled_at(k);

			if (s.place != NO_PLACE)
				change_sled(code + (s.at - at), &s, k, let_in);
		}
		if (!vftr_code_write(fd, at, code, end - at))
			return 0;
	}
	return next;
}

void vftr_sleds_change(void)
{
	struct code_change before;
	size_t i = 0;
	int fd;

	if (program.changed || !vftr_sleds_prepare() || !vftr_code_change_begin(&before))
		return;
	fd = vftr_code_open();
	program.changed = fd >= 0;
	while (fd >= 0 && i < program.n) {
		if (sled_at(i).place == NO_PLACE)
			i++;
		else if (!(i = change_window(fd, i)))
			break;
	}
	if (fd >= 0)
		vftr_code_close(fd);
	vftr_code_change_end(&before);
}

#else

uint64_t vftr_sled_next(uint64_t function, bool at_end, size_t *i)
{
	return 0;
}

bool vftr_sleds_are_there(void)
{
	return false;
}

bool vftr_sleds_prepare(void)
{
	return false;
}

void vftr_sleds_change(void)
{
}

#endif
