/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Executables, shared libraries and separate debug files, read by libelf. The
 * files are untrusted: every offset, size and string is checked, special files
 * are not opened, nothing is mapped (so a file that shrinks is no SIGBUS).
 * Paths that cannot be read give -errno and a sentence.
 */
#ifndef VFTR_NODEAGENT_SYMBOLS_ELF_H
#define VFTR_NODEAGENT_SYMBOLS_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_BUILD_ID_MAX 64

struct elf_file;

/*
 * 0, -errno, or -ENOEXEC when it is no ELF executable or shared library; *why
 * (if not NULL) gets the cause without the path, a static text.
 */
int elf_open(const char *path, struct elf_file **file, const char **why);
void elf_close(struct elf_file *file);

/* Bytes of the build-id, 0 if there is none. */
size_t elf_file_build_id(const struct elf_file *file, uint8_t id[static ELF_BUILD_ID_MAX]);
/* True if the file has this build-id, or bytes is 0. A long build-id may be cut to 20 bytes. */
bool elf_has_build_id(const struct elf_file *file, const uint8_t *id, size_t bytes);

/*
 * The compilers of the file and of the start files in it, by its section .comment: "GCC: (GNU)
 * 12.2.0; ...", each once. NULL: it names none. The caller frees.
 */
char *elf_file_compilers(const struct elf_file *file);

/* True for a program, a PIE included; else a shared library (libc has an interpreter, too). */
bool elf_is_executable(const struct elf_file *file);

/*
 * The separate debug file of `file`, which was opened at `path`: build-id path
 * below /usr/lib/debug, then .gnu_debuglink beside the file, in .debug/ and in
 * /usr/lib/debug/DIRECTORY. One whose build-id differs is passed over;
 * where one of the two has none, one whose CRC is not that of the link. NULL if
 * there is none. The caller closes it.
 */
struct elf_file *elf_debug_file(const struct elf_file *file, const char *path);

enum elf_table { ELF_SYMTAB, ELF_DYNSYM };

struct elf_symbol {
	const char *name;   /* without @VERSION; in the cursor's strings */
	const char *file;   /* source file of a local symbol, or "" */
	uint64_t address;   /* ELF address */
	uint64_t size;	    /* bytes, 0 if not known */
	uint64_t limit;	    /* end of its section, or UINT64_MAX */
	uint8_t type, bind; /* STT_*, STB_* */
	uint16_t version;   /* index in the versions it needs, 0 or 1 if none */
	bool defined;
	bool code; /* lies in an executable section */
};

/* A cursor over symbols. */
struct elf_symbols {
	const struct elf_file *owner;
	void *table, *versions;
	size_t n, next;
	char *strings;
	size_t string_bytes;
	const char *file;
};

/* False if the file has no such table (or a broken one). */
bool elf_symbols_begin(struct elf_symbols *s, const struct elf_file *file, enum elf_table table);
bool elf_symbols_next(struct elf_symbols *s, struct elf_symbol *symbol);
void elf_symbols_end(struct elf_symbols *s);
/* elf_symbols_end() that keeps the names: returns their memory, which the caller frees. */
char *elf_symbols_end_keep(struct elf_symbols *s);

/* ---- for doctor: elf-facts.c -------------------------------------------- */

enum elf_presence {
	ELF_ABSENT = 0,
	ELF_USED,    /* undefined: that of another file is called */
	ELF_DEFINED, /* its own */
};

struct elf_facts {
	uint16_t machine; /* EM_* */
	bool bits64;
	bool executable; /* else a shared library */
	bool pie;
	bool dynamic;  /* has a dynamic section with libraries or an interpreter */
	bool stripped; /* no .symtab, here or in a debug file */
	char *interpreter, *soname, *runpath; /* or NULL */
	size_t n_needed;
	char **needed;		   /* DT_NEEDED */
	enum elf_presence hook;	   /* __cyg_profile_func_enter */
	bool hook_exported;	   /* other files can call it, too */
	char *hook_version;	   /* its version, e.g. "GLIBC_2.2.5", or NULL */
	enum elf_presence marker;  /* vftrace_version: our library */
	enum elf_presence regions; /* any other vftrace_* */
	enum elf_presence mpi;	   /* MPI_Init in any of its spellings */
	char *mpi_symbol;	   /* the first spelling seen */
	bool sleds;		   /* of clang's -fxray-instrument */
	bool vftr_text;		   /* it holds a text of ours, so its hooks may be ours */
};

/* 0, or -errno and *why as elf_open(). */
int elf_facts_read(struct elf_facts *facts, const char *path, const char **why);
void elf_facts_done(struct elf_facts *facts);

#endif
