/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program does with files: the record of a call, the message that names a file, and the
 * interface in the process between libvftrace and libvftrace-files.so, which stands in for the
 * functions of the C library.
 *
 * A call is a frame of a region with the function's name, and inside of it a FILE_CALL.
 */
#ifndef VFTR_SHM_FILES_H
#define VFTR_SHM_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include "shm/record.h"
#include "shm/wire.h"

/*
 * FILE_CALL: in place of the time REST, SEQUENTIAL, kind << 16, and the file's number in its
 * process; word 1 = bytes, an int64_t, -1 if the call failed; word 2 = MARK | ticks that it took.
 *   SEQUENTIAL  a read or write that began where the last one through this descriptor ended
 *   REST        bytes that calls without a record of their own have moved through a stream
 */
enum file_call {
	FILE_OPEN,
	FILE_CLOSE,
	FILE_READ,
	FILE_WRITE,
	FILE_SEEK,
	FILE_SYNC,
	FILE_MAP,   /* bytes: of the mapping */
	FILE_OTHER, /* of its name, length or state */
	FILE_CALLS
};

#define FILE_CALL_MARK	      ((uint64_t)1 << 63)
#define FILE_CALL_SEQUENTIAL  ((uint64_t)1 << 24)
#define FILE_CALL_REST	      ((uint64_t)1 << 25)
#define FILE_CALL_KIND(w)     ((uint32_t)((w) >> (RECORD_TIME_SHIFT + 16)) & 0xff)
#define FILE_CALL_FILE(w)     ((uint32_t)((w) >> RECORD_TIME_SHIFT) & 0xffff)
#define FILE_CALL_HAS(w, bit) ((w) >> RECORD_TIME_SHIFT & (bit))

/* flags: FILE_CALL_SEQUENTIAL, FILE_CALL_REST */
static inline uint64_t file_call_word(enum file_call kind, uint32_t file, uint64_t flags)
{
	return (flags | (uint64_t)kind << 16 | file) << RECORD_TIME_SHIFT | RECORD_FILE_CALL;
}

/* Numbers of files in a process: from 1; 0 stands for all those beyond. A number may be used
 * before its name has come. */
#define FILE_NUMBERS	8192u /* a power of two */
#define FILE_NAMES_MOST 4096u
#define FILE_NAME_BYTES 1024u /* of a name, with its NUL; longer ones are cut */

/* Names of what has none in the file system. */
#define FILE_NAME_PIPES	    "(pipes)"
#define FILE_NAME_SOCKETS   "(sockets)"
#define FILE_NAME_TERMINALS "(terminals)"
#define FILE_NAME_OTHERS    "(other descriptors)"
#define FILE_NAME_TEMPORARY "(temporary files)"
#define FILE_NAME_FAILED    "(not opened)"
#define FILE_NAME_BY_NAME   "(by name)"
#define FILE_NAME_BEYOND    "(other files)" /* of number 0 */

/* WIRE_FILE_NAME: the name of file `number`. Text: path. */
struct wire_file_name {
	struct wire_head head;
	uint32_t number;
	uint32_t reserved;
};

_Static_assert(FILE_NUMBERS <= 1u << 16 && FILE_CALLS <= 1 << 8, "they fit into the header");

/* ---- the interface in the process --------------------------------------------------------- */

#define FILES_SEAM_VERSION 2u

enum files_state {
	FILES_OFF,     /* nothing is recorded */
	FILES_UNKNOWN, /* nothing is recorded now; descriptors that change are to be forgotten */
	FILES_FOREIGN, /* a child of vfork: its descriptors are not the process's */
	FILES_ON,
};

/* Functions that libvftrace offers. Any thread and any signal handler may call them; errno is
 * kept. */
struct files_host {
	uint32_t version;
	/* Attaches if need be. */
	enum files_state (*state)(void);
	/* Number of forks so far: names told before one are to be told again. */
	uint32_t (*generation)(void);
	/* With FILES_ON: the frame of a function begins, or ends (exit != 0). *cache is 0 at first,
	 * one for each name. site: the address in the program that the function returns to. */
	void (*call)(bool exit, const char *name, uint32_t *cache, const void *site);
	/* Inside of the frame: file_call_word(), bytes, and ticks that it took. */
	void (*record)(uint64_t head, int64_t bytes, uint64_t ticks);
	void (*name)(uint32_t number, const char *path);
	uint64_t (*ticks)(void);
};

/* libvftrace exports vftrace_files_host(). */
typedef const struct files_host *files_host_function(void);

#endif
