/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening ELF files, their build-id, their separate debug file and their
 * symbol tables, by libelf. libelf checks offsets against the file's size;
 * sizes that only a sparse file can have are refused here.
 */
#include "nodeagent/symbols/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/symbols/crc.h"
#include "nodeagent/symbols/elf-file.h"
#include "nodeagent/base/util.h"

#define DEBUG_ROOT     "/usr/lib/debug"
#define NOTE_BYTES_MAX (1u << 20)
#define COMPILERS_MOST 200 /* bytes, after which no other compiler is told */

static const struct {
	int error;
	const char *text;
} causes[] = {
	{ENOENT, "no such file"},
	{EACCES, "no permission to read it"},
	{EPERM, "no permission to read it"},
	{ENOTDIR, "no such file"},
	{EISDIR, "is a directory"},
	{ELOOP, "too many symbolic links"},
	{EMFILE, "too many open files"},
	{ENFILE, "too many open files"},
};

static const char *cause_of(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(causes); i++)
		if (causes[i].error == error)
			return causes[i].text;
	return "cannot be read";
}

static int open_regular(const char *path, struct stat *st)
{
	/* not blocking: a FIFO must not stop us */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return -errno;
	if (fstat(fd, st) || !S_ISREG(st->st_mode)) {
		close(fd);
		return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	}
	return fd;
}

/* libelf reads a section of strings whole, for the first one of them. */
static bool has_holes(const struct elf_file *f)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_STRTAB &&
			sh.sh_size > f->bytes_most)
			return true;
	return false;
}

int elf_open(const char *path, struct elf_file **file, const char **why)
{
	const char *unused;
	struct elf_file *f;
	struct stat st = {0};
	int fd = open_regular(path, &st);

	*file = NULL;
	why = why ? why : &unused;
	if (fd < 0) {
		*why = fd == -EINVAL ? "is no regular file" : cause_of(-fd);
		return fd;
	}
	f = xcalloc(1, sizeof(*f));
	f->fd = fd;
	f->status = st;
	f->bytes_most = plausible_bytes(&st);
	elf_version(EV_CURRENT);
	f->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		*why = "is no ELF file";
		goto not_ours;
	}
	if (f->header.e_type != ET_EXEC && f->header.e_type != ET_DYN) {
		*why = "is neither an executable nor a shared library";
		goto not_ours;
	}
	if (has_holes(f)) {
		*why = "has a table of strings that is larger than what is on its disk";
		goto not_ours;
	}
	*file = f;
	return 0;
not_ours:
	elf_close(f);
	return -ENOEXEC;
}

void elf_close(struct elf_file *f)
{
	if (!f)
		return;
	elf_end(f->elf);
	close(f->fd);
	free(f);
}

bool elf_program_header(const struct elf_file *f, unsigned type, GElf_Phdr *ph)
{
	size_t n;

	if (elf_getphdrnum(f->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < PN_XNUM; i++)
		if (gelf_getphdr(f->elf, (int)i, ph) && ph->p_type == type)
			return true;
	return false;
}

Elf_Scn *elf_section(const struct elf_file *f, unsigned type, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(f->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(f->elf, scn))) {
		const char *s;

		if (!gelf_getshdr(scn, sh) || sh->sh_type != type)
			continue;
		if (!name)
			return scn;
		s = elf_strptr(f->elf, names, sh->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

Elf_Data *elf_section_data(const struct elf_file *f, Elf_Scn *scn)
{
	GElf_Shdr sh;
	Elf_Data *data;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS ||
		sh.sh_size > f->bytes_most)
		return NULL;
	data = elf_getdata(scn, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

/* ---- build-id ------------------------------------------------------------ */

static size_t build_id_in(Elf_Data *notes, uint8_t *id)
{
	size_t offset = 0, name, desc;
	GElf_Nhdr note;

	if (!notes || !notes->d_buf)
		return 0;
	while ((offset = gelf_getnote(notes, offset, &note, &name, &desc)) > 0) {
		const char *base = notes->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && note.n_descsz &&
			note.n_descsz <= ELF_BUILD_ID_MAX && !memcmp(base + name, "GNU", 4)) {
			memcpy(id, base + desc, note.n_descsz);
			return note.n_descsz;
		}
	}
	return 0;
}

size_t elf_file_build_id(const struct elf_file *f, uint8_t id[static ELF_BUILD_ID_MAX])
{
	size_t n, bytes = 0;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	GElf_Phdr ph;

	/* sections first: the segments of a debug file point nowhere */
	while (!bytes && (scn = elf_nextscn(f->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_NOTE &&
			sh.sh_size <= NOTE_BYTES_MAX)
			bytes = build_id_in(elf_section_data(f, scn), id);
	if (bytes || elf_getphdrnum(f->elf, &n))
		return bytes;
	for (size_t i = 0; !bytes && i < n && i < PN_XNUM; i++)
		if (gelf_getphdr(f->elf, (int)i, &ph) && ph.p_type == PT_NOTE &&
			ph.p_filesz <= NOTE_BYTES_MAX)
			bytes = build_id_in(
				elf_getdata_rawchunk(f->elf, (int64_t)ph.p_offset, ph.p_filesz,
					ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
				id);
	return bytes;
}

/* ---- compilers ----------------------------------------------------------- */

char *elf_file_compilers(const struct elf_file *f)
{
	GElf_Shdr sh;
	Elf_Data *data = elf_section_data(f, elf_section(f, SHT_PROGBITS, ".comment", &sh));
	const char *at = data ? data->d_buf : NULL, *end = at ? at + data->d_size : NULL;
	char *all = NULL;

	while (at < end && (!all || strlen(all) < COMPILERS_MOST)) {
		const size_t n = strnlen(at, (size_t)(end - at));

		if (n)
			all = xappend(all, "%s%.*s", all ? "; " : "",
				n < COMPILERS_MOST ? (int)n : COMPILERS_MOST, at);
		at += n + 1;
	}
	return all;
}

bool elf_has_build_id(const struct elf_file *f, const uint8_t *id, size_t bytes)
{
	uint8_t here[ELF_BUILD_ID_MAX];
	size_t n = elf_file_build_id(f, here);

	return !id || !bytes ||
	       ((n == bytes || (bytes >= 20 && n > bytes)) && !memcmp(here, id, bytes));
}

/* ---- separate debug files ------------------------------------------------ */

/* Opens a candidate; takes the path. NULL unless it belongs to f. crc: what its link says, which
 * tells where one of both has no build-id. */
static struct elf_file *debug_candidate(const struct elf_file *f, char *path, const uint32_t *crc)
{
	uint8_t ours[ELF_BUILD_ID_MAX], theirs[ELF_BUILD_ID_MAX];
	size_t a, b;
	uint32_t theirs_crc;
	struct elf_file *debug;
	int error = elf_open(path, &debug, NULL);

	free(path);
	if (error)
		return NULL;
	a = elf_file_build_id(f, ours);
	b = elf_file_build_id(debug, theirs);
	if ((debug->status.st_dev == f->status.st_dev &&
		    debug->status.st_ino == f->status.st_ino) ||
		(a && b && (a != b || memcmp(ours, theirs, a))) ||
		debug->header.e_machine != f->header.e_machine ||
		(!(a && b) && crc &&
			(!file_crc(debug->fd, &debug->status, &theirs_crc) ||
				theirs_crc != *crc))) {
		elf_close(debug);
		return NULL;
	}
	return debug;
}

static struct elf_file *debug_by_build_id(const struct elf_file *f)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	char hex[2 * ELF_BUILD_ID_MAX + 1];
	size_t bytes = elf_file_build_id(f, id);

	if (bytes < 2)
		return NULL;
	for (size_t i = 0; i < bytes; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	return debug_candidate(
		f, xasprintf("%s/.build-id/%.2s/%s.debug", DEBUG_ROOT, hex, hex + 2), NULL);
}

/* Behind the name, at the next multiple of 4 bytes. */
static bool link_crc(const struct elf_file *f, const Elf_Data *link, uint32_t *crc)
{
	const size_t at = (strlen(link->d_buf) + 4) & ~(size_t)3;
	const Elf_Data from = {
		(char *)link->d_buf + at, ELF_T_WORD, EV_CURRENT, sizeof(*crc), 0, 0};
	Elf_Data to = {crc, ELF_T_WORD, EV_CURRENT, sizeof(*crc), 0, 0};

	return at + sizeof(*crc) <= link->d_size &&
	       gelf_xlatetom(f->elf, &to, &from, f->header.e_ident[EI_DATA]);
}

static struct elf_file *debug_by_link(const struct elf_file *f, const char *path)
{
	GElf_Shdr sh;
	Elf_Data *data = elf_section_data(f, elf_section(f, SHT_PROGBITS, ".gnu_debuglink", &sh));
	struct elf_file *debug;
	const char *link;
	char real[PATH_MAX], *slash;
	uint32_t crc;

	if (!data || !memchr(data->d_buf, 0, data->d_size) || !realpath(path, real))
		return NULL;
	link = data->d_buf;
	slash = strrchr(real, '/');
	if (!*link || strchr(link, '/') || !slash || !link_crc(f, data, &crc))
		return NULL;
	*slash = 0;
	debug = debug_candidate(f, xasprintf("%s/%s", real, link), &crc);
	if (!debug)
		debug = debug_candidate(f, xasprintf("%s/.debug/%s", real, link), &crc);
	if (!debug)
		debug = debug_candidate(f, xasprintf("%s%s/%s", DEBUG_ROOT, real, link), &crc);
	return debug;
}

struct elf_file *elf_debug_file(const struct elf_file *f, const char *path)
{
	struct elf_file *debug = debug_by_build_id(f);

	return debug ? debug : debug_by_link(f, path);
}

/* ---- symbols ------------------------------------------------------------- */

/*
 * A private copy of the string table that always ends in NUL, with the
 * versions linkers append cut off ("foo@@V1"), in one pass over the whole
 * table: names may overlap, so a pass per name could take forever.
 */
static char *strings_copy(const Elf_Data *data)
{
	char *s = xmalloc(data->d_size + 1);

	memcpy(s, data->d_buf, data->d_size);
	s[data->d_size] = 0;
	for (char *at = s + 1; (at = memchr(at, '@', (size_t)(s + data->d_size - at))); at++)
		if (at[-1])
			*at = 0;
	return s;
}

bool elf_symbols_begin(struct elf_symbols *s, const struct elf_file *f, enum elf_table which)
{
	GElf_Shdr sh, strings_sh;
	Elf_Scn *scn = elf_section(f, which == ELF_SYMTAB ? SHT_SYMTAB : SHT_DYNSYM, NULL, &sh);
	Elf_Data *table = elf_section_data(f, scn), *strings;
	size_t each = gelf_fsize(f->elf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Scn *link;

	memset(s, 0, sizeof(*s));
	if (!table || !each || table->d_type != ELF_T_SYM)
		return false;
	link = elf_getscn(f->elf, sh.sh_link);
	if (!link || !gelf_getshdr(link, &strings_sh) || strings_sh.sh_type != SHT_STRTAB)
		return false;
	strings = elf_section_data(f, link);
	if (!strings)
		return false;
	if (which == ELF_DYNSYM) {
		Elf_Data *v = elf_section_data(f, elf_section(f, SHT_GNU_versym, NULL, &sh));

		s->versions = v && v->d_type == ELF_T_HALF ? v : NULL;
	}
	s->owner = f;
	s->table = table;
	s->n = table->d_size / each;
	s->n = s->n > INT_MAX ? INT_MAX : s->n;
	s->next = 1; /* 0 is the null symbol */
	s->strings = strings_copy(strings);
	s->string_bytes = strings->d_size;
	s->file = "";
	return true;
}

/* Sets the end of the symbol's section, and whether it is executable. */
static void location(const struct elf_symbols *s, const GElf_Sym *sym, struct elf_symbol *out)
{
	GElf_Shdr sh;

	out->limit = UINT64_MAX;
	out->code = false;
	if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= SHN_LORESERVE)
		return;
	if (!gelf_getshdr(elf_getscn(s->owner->elf, sym->st_shndx), &sh))
		return;
	out->code = (sh.sh_flags & SHF_EXECINSTR) && sym->st_value >= sh.sh_addr &&
		    sym->st_value - sh.sh_addr < sh.sh_size;
	if (out->code && sh.sh_addr + sh.sh_size > sh.sh_addr)
		out->limit = sh.sh_addr + sh.sh_size;
}

bool elf_symbols_next(struct elf_symbols *s, struct elf_symbol *out)
{
	GElf_Sym sym;
	GElf_Versym version = 0;

	while (s->next < s->n) {
		int i = (int)s->next++;

		if (!gelf_getsym(s->table, i, &sym) || sym.st_name >= s->string_bytes)
			continue;
		out->name = s->strings + sym.st_name;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE) {
			s->file = out->name;
			continue;
		}
		if (!*out->name)
			continue;
		out->type = GELF_ST_TYPE(sym.st_info);
		out->bind = GELF_ST_BIND(sym.st_info);
		out->file = out->bind == STB_LOCAL ? s->file : "";
		out->address = sym.st_value;
		out->size = sym.st_size;
		out->defined = sym.st_shndx != SHN_UNDEF;
		if (s->versions && gelf_getversym(s->versions, i, &version))
			out->version = version & 0x7fff;
		else
			out->version = 0;
		location(s, &sym, out);
		return true;
	}
	return false;
}

char *elf_symbols_end_keep(struct elf_symbols *s)
{
	char *strings = s->strings;

	memset(s, 0, sizeof(*s));
	return strings;
}

void elf_symbols_end(struct elf_symbols *s)
{
	free(elf_symbols_end_keep(s));
}
