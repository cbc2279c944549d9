/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Facts about one ELF file for `vftr doctor`: how it is linked, and which symbols
 * of tracing it defines or uses.
 */
#include "nodeagent/symbols/elf.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/symbols/elf-file.h"
#include "nodeagent/base/util.h"

#define HOOK	   "__cyg_profile_func_enter"
#define MARKER	   "vftrace_version"
#define TRACE	   "VFTR_RUNTIME_DIR" /* a text our library cannot do without */
#define NEEDED_MAX 4096

/* MPI_Init in C and in the Fortran spellings of the MPIs. */
static const char *const mpi_names[] = {
	"MPI_Init",
	"MPI_Init_thread",
	"MPI_Session_init",
	"mpi_init_",
	"mpi_init_thread_",
	"mpi_init",
	"mpi_init__",
	"MPI_INIT",
	"mpi_init_f08_",
	"mpi_init_thread_f08_",
	"MPI_Comm_rank",
	"mpi_comm_rank_",
	"mpi_comm_rank_f08_",
};

/* ---- dynamic section ----------------------------------------------------- */

static Elf_Data *dynamic_entries(const struct elf_file *f, GElf_Shdr *sh)
{
	Elf_Data *d = elf_section_data(f, elf_section(f, SHT_DYNAMIC, NULL, sh));

	return d && d->d_type == ELF_T_DYN ? d : NULL;
}

bool elf_is_executable(const struct elf_file *f)
{
	GElf_Shdr sh;
	Elf_Data *d = dynamic_entries(f, &sh);
	bool named = false;
	GElf_Phdr ph;
	GElf_Dyn dyn;

	if (f->header.e_type == ET_EXEC)
		return true;
	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		if (dyn.d_tag == DT_FLAGS_1 && (dyn.d_un.d_val & DF_1_PIE))
			return true;
		named |= dyn.d_tag == DT_SONAME;
	}
	/* old linkers do not mark a PIE; a library that can be run has a name */
	return !named && elf_program_header(f, PT_INTERP, &ph);
}

static void set_text(char **to, const char *s)
{
	if (s && !*to)
		*to = xstrdup(s);
}

static void read_dynamic(struct elf_facts *facts, const struct elf_file *f)
{
	GElf_Shdr sh;
	Elf_Data *d = dynamic_entries(f, &sh);
	size_t cap = 0;
	GElf_Dyn dyn;

	for (int i = 0; d && gelf_getdyn(d, i, &dyn) && dyn.d_tag != DT_NULL; i++) {
		const char *s;

		if (dyn.d_tag != DT_NEEDED && dyn.d_tag != DT_SONAME && dyn.d_tag != DT_RPATH &&
			dyn.d_tag != DT_RUNPATH)
			continue;
		s = elf_strptr(f->elf, sh.sh_link, dyn.d_un.d_val);
		if (dyn.d_tag == DT_SONAME) {
			set_text(&facts->soname, s);
		} else if (dyn.d_tag != DT_NEEDED) {
			set_text(&facts->runpath, s);
		} else if (s && facts->n_needed < NEEDED_MAX) {
			*APPEND(facts->needed, facts->n_needed, cap) = xstrdup(s);
		}
	}
}

static void read_interpreter(struct elf_facts *facts, const struct elf_file *f)
{
	char path[4096];
	GElf_Phdr ph;
	ssize_t n;

	if (!elf_program_header(f, PT_INTERP, &ph) || !ph.p_filesz || ph.p_filesz >= sizeof(path))
		return;
	n = pread(f->fd, path, ph.p_filesz, (off_t)ph.p_offset);
	if (n <= 0)
		return;
	path[n] = 0;
	facts->interpreter = xstrdup(path);
}

/* ---- symbols ------------------------------------------------------------- */

/* Finds the version `index` among the n from byte `at` on; false if it is none of them. */
static bool find_version(Elf_Data *d, size_t at, unsigned n, unsigned index, GElf_Vernaux *aux)
{
	for (unsigned k = 0; k < n && at < d->d_size; k++) {
		if (!gelf_getvernaux(d, (int)at, aux))
			return false;
		if ((aux->vna_other & 0x7fff) == index)
			return true;
		if (!aux->vna_next)
			return false;
		at += aux->vna_next;
	}
	return false;
}

/* Name of the version `index` of a needed library's symbol, or NULL. */
static char *version_needed(const struct elf_file *f, unsigned index)
{
	GElf_Shdr sh;
	Elf_Data *d = elf_section_data(f, elf_section(f, SHT_GNU_verneed, NULL, &sh));
	GElf_Verneed need;
	GElf_Vernaux aux;
	size_t at = 0;

	if (!d || d->d_type != ELF_T_VNEED || index < 2)
		return NULL;
	for (unsigned i = 0; i < sh.sh_info && at < d->d_size; i++) {
		if (!gelf_getverneed(d, (int)at, &need))
			return NULL;
		if (find_version(d, at + need.vn_aux, need.vn_cnt, index, &aux)) {
			const char *s = elf_strptr(f->elf, sh.sh_link, aux.vna_name);

			return s ? xstrdup(s) : NULL;
		}
		if (!need.vn_next)
			break;
		at += need.vn_next;
	}
	return NULL;
}

static void note_presence(enum elf_presence *to, const struct elf_symbol *s)
{
	enum elf_presence now = s->defined ? ELF_DEFINED : ELF_USED;

	*to = MAX(*to, now);
}

static void note_mpi(struct elf_facts *facts, const struct elf_symbol *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(mpi_names); i++)
		if (!strcmp(s->name, mpi_names[i])) {
			note_presence(&facts->mpi, s);
			set_text(&facts->mpi_symbol, s->name);
		}
}

static bool read_symbols(struct elf_facts *facts, const struct elf_file *f, enum elf_table which)
{
	struct elf_symbols cursor;
	struct elf_symbol s;

	if (!elf_symbols_begin(&cursor, f, which))
		return false;
	while (elf_symbols_next(&cursor, &s)) {
		if (!strcmp(s.name, HOOK)) {
			note_presence(&facts->hook, &s);
			facts->hook_exported |= which == ELF_DYNSYM && s.defined;
			if (which == ELF_DYNSYM && !s.defined && !facts->hook_version)
				facts->hook_version = version_needed(f, s.version);
		} else if (!strcmp(s.name, MARKER)) {
			note_presence(&facts->marker, &s);
		} else if (!strncmp(s.name, "vftrace_", 8)) {
			note_presence(&facts->regions, &s);
		} else if (*s.name == 'M' || *s.name == 'm') {
			note_mpi(facts, &s);
		}
	}
	elf_symbols_end(&cursor);
	return true;
}

static bool holds_text(const struct elf_file *f, const char *text)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(f->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *d;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS ||
			!(sh.sh_flags & SHF_ALLOC) || (sh.sh_flags & SHF_EXECINSTR))
			continue;
		d = elf_section_data(f, scn);
		if (d && memmem(d->d_buf, d->d_size, text, strlen(text)))
			return true;
	}
	return false;
}

/* ---- the interface ------------------------------------------------------- */

int elf_facts_read(struct elf_facts *facts, const char *path, const char **why)
{
	struct elf_file *f, *debug;
	int error = elf_open(path, &f, why);
	GElf_Phdr ph;
	GElf_Shdr sh;
	bool symtab;

	memset(facts, 0, sizeof(*facts));
	if (error)
		return error;
	facts->machine = f->header.e_machine;
	facts->bits64 = f->header.e_ident[EI_CLASS] == ELFCLASS64;
	facts->executable = elf_is_executable(f);
	facts->pie = facts->executable && f->header.e_type == ET_DYN;
	read_interpreter(facts, f);
	read_dynamic(facts, f);
	facts->dynamic = elf_program_header(f, PT_DYNAMIC, &ph) &&
			 (facts->interpreter || facts->n_needed || !facts->executable);
	read_symbols(facts, f, ELF_DYNSYM);
	symtab = read_symbols(facts, f, ELF_SYMTAB);
	if (!symtab) {
		debug = elf_debug_file(f, path);
		symtab = debug && read_symbols(facts, debug, ELF_SYMTAB);
		elf_close(debug);
	}
	facts->stripped = !symtab;
	facts->sleds = facts->executable && elf_section(f, SHT_PROGBITS, "xray_instr_map", &sh);
	facts->vftr_text = facts->executable && (facts->stripped || facts->hook == ELF_DEFINED) &&
			   holds_text(f, TRACE);
	elf_close(f);
	return 0;
}

void elf_facts_done(struct elf_facts *facts)
{
	for (size_t i = 0; i < facts->n_needed; i++)
		free(facts->needed[i]);
	free(facts->needed);
	free(facts->interpreter);
	free(facts->soname);
	free(facts->runpath);
	free(facts->hook_version);
	free(facts->mpi_symbol);
	memset(facts, 0, sizeof(*facts));
}
