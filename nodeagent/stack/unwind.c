/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/stack/unwind.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/stack/events.h"
#include "nodeagent/stack/registers.h"
#include "nodeagent/stack/rules.h"

struct unwinder {
	Dwfl *dwfl;
	struct frame_rules *rules;
	int pid;
	const struct stack_raw *sample; /* the one at hand */
	uint64_t *pcs;
	size_t n;
	bool missed; /* memory that was not stored; for libdw the stack may end there */
	bool first;  /* a function that nobody has called */
};

/* ---- what libdw asks for ------------------------------------------------- */

/* The one thread that there is at a time. */
static pid_t next_thread(Dwfl *dwfl, void *ctx, void **thread)
{
	if (*thread)
		return 0;
	*thread = ctx;
	return ((struct unwinder *)ctx)->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *ctx, void **thread)
{
	*thread = ctx;
	return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *word, void *ctx)
{
	struct unwinder *u = ctx;
	const struct stack_raw *s = u->sample;
	const uint64_t at = address - stack_raw_register(s, STACK_POINTER);

	if (s->stack_bytes < sizeof(*word) || at > s->stack_bytes - sizeof(*word)) {
		u->missed = true;
		return false;
	}
	memcpy(word, s->stack + at, sizeof(*word));
	return true;
}

static bool set_registers(Dwfl_Thread *thread, void *ctx)
{
	const struct stack_raw *s = ((struct unwinder *)ctx)->sample;
	Dwarf_Word words[DWARF_REGS];

	for (unsigned i = 0; i < DWARF_REGS; i++)
		words[i] = stack_raw_register(s, i);
	if (SEPARATE_PC)
		dwfl_thread_state_register_pc(thread, stack_raw_pc(s));
	return dwfl_thread_state_registers(thread, 0, DWARF_REGS, words);
}

static const Dwfl_Thread_Callbacks of_threads = {.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers};

/* .eh_frame is in the file itself; a search might ask a server for debug information. */
static int no_debuginfo(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
	const char *file, const char *debuglink, GElf_Word crc, char **found)
{
	return -1;
}

/* libdw would keep a descriptor for each file of each process. */
static int find_elf(Dwfl_Module *module, void **userdata, const char *name, Dwarf_Addr base,
	char **file, Elf **elf)
{
	char *path = xstrdup(name);
	int fd;

	procfs_read_newlines(path);
	fd = dwfl_linux_proc_find_elf(module, userdata, path, base, file, elf);
	free(path);
	if (fd < 0)
		return fd;
	if (!*elf)
		*elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (*elf && elf_cntl(*elf, ELF_C_FDREAD)) {
		elf_end(*elf);
		*elf = NULL;
	}
	close(fd);
	return -1;
}

static const Dwfl_Callbacks of_modules = {.find_elf = find_elf, .find_debuginfo = no_debuginfo};

/* ---- the process --------------------------------------------------------- */

/* The maps with the names of files as we see them, of a process that has another root. */
static int report_by_root(Dwfl *dwfl, int pid)
{
	char *text = procfs_maps_by_root(pid);
	FILE *f = text ? fmemopen(text, strlen(text), "r") : NULL;
	const int failed = f ? dwfl_linux_proc_maps_report(dwfl, f) : -1;

	if (f)
		fclose(f);
	free(text);
	return failed;
}

static int report_files(Dwfl *dwfl, int pid)
{
	return procfs_has_other_root(pid) ? report_by_root(dwfl, pid)
					  : dwfl_linux_proc_report(dwfl, pid);
}

struct unwinder *unwinder_new(int pid)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	u->pid = pid;
	u->dwfl = dwfl_begin(&of_modules);
	if (u->dwfl && !report_files(u->dwfl, pid) && !dwfl_report_end(u->dwfl, NULL, NULL) &&
		dwfl_attach_state(u->dwfl, NULL, pid, &of_threads, u)) {
		u->rules = frame_rules_new(u->dwfl);
		return u;
	}
	unwinder_free(u);
	return NULL;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	frame_rules_free(u->rules);
	dwfl_end(u->dwfl);
	free(u);
}

void unwinder_refresh(struct unwinder *u)
{
	if (procfs_maps_has(u->pid, "/") != 1) /* it ends: what was known still holds */
		return;
	dwfl_report_begin(u->dwfl);
	report_files(u->dwfl, u->pid);
	dwfl_report_end(u->dwfl, NULL, NULL);
	frame_rules_forget(u->rules);
}

bool unwinder_knows(const struct unwinder *u, uint64_t pc)
{
	return dwfl_addrmodule(u->dwfl, pc) != NULL;
}

/* ---- frames -------------------------------------------------------------- */

static int add_frame(Dwfl_Frame *frame, void *ctx)
{
	struct unwinder *u = ctx;
	Dwarf_Addr pc;
	bool is_running;

	u->missed =
		false; /* what was, was of other registers; the next line may go on to a caller */
	if (!dwfl_frame_pc(frame, &pc, &is_running) || u->n == UNWIND_FRAMES_MAX)
		return DWARF_CB_ABORT;
	if (!pc) /* behind the thread's first function */
		return DWARF_CB_OK;
	u->first = !is_running && frame_rules_begins(u->rules, pc);
	u->pcs[u->n++] = is_running || u->first ? pc : pc - 1;
	return u->first ? DWARF_CB_ABORT : DWARF_CB_OK;
}

size_t unwinder_frames_by_libdw(
	struct unwinder *u, const struct stack_raw *s, uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole)
{
	u->sample = s;
	u->pcs = pcs;
	u->n = 0;
	u->missed = u->first = false;
	*whole = (!dwfl_getthread_frames(u->dwfl, u->pid, add_frame, u) || u->first) && !u->missed;
	u->sample = NULL;
	return u->n;
}

size_t unwinder_frames(
	struct unwinder *u, const struct stack_raw *s, uint64_t pcs[UNWIND_FRAMES_MAX], bool *whole)
{
	size_t n;

	return frame_rules_walk(u->rules, s, pcs, &n, whole)
		       ? n
		       : unwinder_frames_by_libdw(u, s, pcs, whole);
}

/* ---- files --------------------------------------------------------------- */

static void note_headers(Elf *elf, struct unwind_module *m)
{
	GElf_Ehdr header;
	size_t n = 0;

	m->low = UINT64_MAX;
	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		m->low = MIN(m->low, m->base + p.p_vaddr);
		m->high = MAX(m->high, m->base + p.p_vaddr + p.p_memsz);
	}
	if (gelf_getehdr(elf, &header) && header.e_entry)
		m->entry = m->base + header.e_entry;
}

bool unwinder_module(struct unwinder *u, uint64_t pc, struct unwind_module *m)
{
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, pc);
	GElf_Addr bias, id_address;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	const char *file = NULL, *name;
	int id_bytes;

	if (!elf)
		return false;
	*m = (struct unwind_module){.base = bias};
	note_headers(elf, m);
	name = dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, NULL);
	m->path = file ? file : name;
	id_bytes = dwfl_module_build_id(module, &m->build_id, &id_address);
	m->build_id_bytes = id_bytes > 0 ? (size_t)id_bytes : 0;
	return m->path && m->low < m->high;
}

/* One row of the table: addresses relative to the begin of the section. */
struct eh_row {
	int32_t function, entry;
};

/* The rows of the only form of this table that linkers write; n is 0 for another one. */
static const struct eh_row *eh_rows(const unsigned char *at, size_t bytes, size_t *n)
{
	uint32_t count;

	*n = 0;
	if (bytes < 12 || at[0] != 1 || (at[1] & 0x0f) != DW_EH_PE_sdata4 ||
		at[2] != DW_EH_PE_udata4 || at[3] != (DW_EH_PE_datarel | DW_EH_PE_sdata4))
		return NULL;
	memcpy(&count, at + 8, sizeof(count));
	if (count > (bytes - 12) / sizeof(struct eh_row))
		return NULL;
	*n = count;
	return (const struct eh_row *)(const void *)(at + 12);
}

static uint64_t function_in(const Elf_Data *table, uint64_t section, uint64_t address)
{
	size_t n, low = 0;
	const struct eh_row *rows = eh_rows(table->d_buf, table->d_size, &n);
	struct eh_row row;

	while (n) { /* the last one of [low, low + n) that does not begin later */
		const size_t half = n / 2;

		memcpy(&row, rows + low + half, sizeof(row));
		if (section + (uint64_t)(int64_t)row.function <= address) {
			low += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	if (!low)
		return 0;
	memcpy(&row, rows + low - 1, sizeof(row));
	return section + (uint64_t)(int64_t)row.function;
}

/* The table has begins alone: an address behind the end of the last function is in none. The entry
 * of the code that a signal handler returns to begins one byte early, for those who look for its
 * caller in the call. */
static bool is_covered(Dwfl_Module *module, uint64_t pc, bool *is_early)
{
	Dwarf_Addr bias = 0;
	Dwarf_CFI *table = dwfl_module_eh_cfi(module, &bias);
	Dwarf_Frame *frame = NULL;
	const bool covered = table && !dwarf_cfi_addrframe(table, pc - bias, &frame);

	if (covered)
		dwarf_frame_info(frame, NULL, NULL, is_early);
	free(frame);
	return covered;
}

uint64_t unwinder_function(struct unwinder *u, uint64_t pc)
{
	Dwfl_Module *module = dwfl_addrmodule(u->dwfl, pc);
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;
	bool is_early = false;
	size_t n = 0;

	if (!elf || !is_covered(module, pc, &is_early))
		return 0;
	elf_getphdrnum(elf, &n);
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;
		Elf_Data *table;
		uint64_t found;

		if (!gelf_getphdr(elf, (int)i, &p) || p.p_type != PT_GNU_EH_FRAME)
			continue;
		table = elf_getdata_rawchunk(elf, (int64_t)p.p_offset, p.p_filesz, ELF_T_BYTE);
		found = table && table->d_buf ? function_in(table, p.p_vaddr, pc - bias) : 0;
		return found ? found + is_early + bias : 0;
	}
	return 0;
}
