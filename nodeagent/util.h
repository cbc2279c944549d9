/* SPDX-License-Identifier: BSD-3-Clause */
/* Small things every file of the agent and the tools needs. */
#ifndef VFTR_NODEAGENT_UTIL_H
#define VFTR_NODEAGENT_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Program name for messages; set once in main. */
extern const char *program_name;

/* The one that fits n things: "1 call was", "2 calls were". */
static inline const char *one_or_many(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* "PROGRAM: text" and a newline on stderr; control characters in it are question marks. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, then exit(status). */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Never NULL: want of memory ends the program with a message and status 125. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Not 0, and not the same again. */
uint64_t random_word(void);

/* Room for one more element in an array of n with capacity *cap (grows x 2). */
void *grow(void *array, size_t n, size_t *cap, size_t element_bytes);

/*
 * The name of a program or node, which anybody may have chosen, as a part of the name of a
 * file: as much of it as leaves room for what follows, without '/', control characters and
 * a '.' in front, for which there is '_'; "unknown" for none. The caller frees.
 */
char *file_base(const char *program);

/* Why what lies there is no file that this user has made, or NULL. st: of lstat(), or NULL. */
struct stat;
const char *not_own_file(const char *path, const struct stat *st);

/*
 * Output files are new ones, and never half-written: write_begin() makes one beside
 * PATH, under a name that nobody can guess and through no link; write_end() flushes,
 * checks and renames it to PATH, or removes it; write_abort() removes it. All stay in the
 * directory that PATH was in at first. Devices such as /dev/stdout are written as they
 * are. Two runs that write one PATH do not see each other: the last one is there.
 * Return 0 or -errno; on error write_begin() sets *f to NULL, and w must not be used.
 */
struct writing;
int write_begin(FILE **f, struct writing **w, const char *path);
int write_end(FILE *f, struct writing *w);
void write_abort(FILE *f, struct writing *w);
/* write_end() will wait until the disk has it: it outlives a crash of the node. */
void write_durable(struct writing *w);

/* What follows PATH in the name of a new file or folder. The caller frees. */
char *write_suffix(void);
/* An empty file in place of whatever regular file or link is there. -1 and errno: none. */
int open_replaced(const char *path, int flags);

/*
 * Bytes of a file from this offset on, however often it takes. Returns how many; fewer
 * than n where the file ends (errno is 0 then) or cannot be read.
 */
size_t read_at(int fd, void *to, size_t n, uint64_t offset);

/*
 * The most that a file of others may make us read at once: about what is on its disk
 * (compressed perhaps), not what a hole in it claims; never more than 1 GiB.
 */
struct stat;
uint64_t plausible_bytes(const struct stat *st);

#endif
