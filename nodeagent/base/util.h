/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, messages and output files, for all files of the agent and the tools. */
#ifndef VFTR_NODEAGENT_BASE_UTIL_H
#define VFTR_NODEAGENT_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Less than, equal to or greater than 0. */
#define ORDER(x, y) ((x) == (y) ? 0 : (x) < (y) ? -1 : 1)

/*
 * ORDER_BY(by_place, struct spot, ALPHABETIC(host) ?: FALLING(weight) ?: RISING(place)): a static
 * function for qsort() and bsearch(), by these members of *x and *y, the first one first. In an
 * array of pointers: ORDER_POINTERS_BY().
 */
#define ORDER_BY(name, type, order)                                                                \
	static int name(const void *x_, const void *y_)                                            \
	{                                                                                          \
		const type *x = x_, *y = y_;                                                       \
                                                                                                   \
		return order;                                                                      \
	}
#define ORDER_POINTERS_BY(name, type, order)                                                       \
	static int name(const void *x_, const void *y_)                                            \
	{                                                                                          \
		const type *x = *(const type *const *)x_, *y = *(const type *const *)y_;           \
                                                                                                   \
		return order;                                                                      \
	}
#define RISING(member)	   ORDER(x->member, y->member)
#define FALLING(member)	   ORDER(y->member, x->member)
#define ALPHABETIC(member) strcmp(x->member, y->member)

/*
 * Goes through the n elements of an array by their address p. The array may not move, nor n change,
 * meanwhile.
 */
#define EACH(type, p, array, n)                                                                    \
	for (type *p = (array), *const end_##p = (n) ? p + (n) : p; p < end_##p; p++)

/* Of the i from 0 to n - 1: is_it, an expression of i, is true of one, or of all of them. */
#define ANY(i, n, is_it)                                                                           \
	({                                                                                         \
		const size_t end_##i = (n);                                                        \
		size_t i = 0;                                                                      \
                                                                                                   \
		while (i < end_##i && !(is_it))                                                    \
			i++;                                                                       \
		i < end_##i;                                                                       \
	})
#define ALL(i, n, is_it) (!ANY(i, n, !(is_it)))

/* The first of the n elements of array of which is_it, an expression of its address p, is true; or
 * NULL. */
#define FIND(p, array, n, is_it)                                                                   \
	({                                                                                         \
		__typeof__(*(array)) *p = (array);                                                 \
		size_t left_##p = (n);                                                             \
                                                                                                   \
		while (left_##p && !(is_it))                                                       \
			p++, left_##p--;                                                           \
		left_##p ? p : NULL;                                                               \
	})

/*
 * The first i >= low of which is_below, an expression of i, is false, or high: is_below is true of
 * all up to some i, and false of the others.
 */
#define LOWER_BOUND(i, low, high, is_below)                                                        \
	({                                                                                         \
		size_t low_##i = (low), high_##i = (high);                                         \
                                                                                                   \
		while (low_##i < high_##i) {                                                       \
			const size_t i = low_##i + (high_##i - low_##i) / 2;                       \
                                                                                                   \
			if (is_below)                                                              \
				low_##i = i + 1;                                                   \
			else                                                                       \
				high_##i = i;                                                      \
		}                                                                                  \
		low_##i;                                                                           \
	})

#define MIN(a, b)                                                                                  \
	({                                                                                         \
		const __typeof__(a) a_ = (a);                                                      \
		const __typeof__(b) b_ = (b);                                                      \
                                                                                                   \
		b_ < a_ ? b_ : a_;                                                                 \
	})
#define MAX(a, b)                                                                                  \
	({                                                                                         \
		const __typeof__(a) a_ = (a);                                                      \
		const __typeof__(b) b_ = (b);                                                      \
                                                                                                   \
		b_ > a_ ? b_ : a_;                                                                 \
	})

/* to->member becomes the lesser, or the greater, of both. */
#define LEAST(to, from, member)                                                                    \
	((to)->member = (from)->member < (to)->member ? (from)->member : (to)->member)
#define MOST(to, from, member)                                                                     \
	((to)->member = (from)->member > (to)->member ? (from)->member : (to)->member)

/* Program name for messages; set once in main. */
extern const char *program_name;

/* Returns `one` for n == 1, else `many`: "1 call was", "2 calls were". */
static inline const char *one_or_many(uint64_t n, const char *one, const char *many)
{
	return n == 1 ? one : many;
}

/* "PROGRAM: text" and a newline on stderr; control characters in it are question marks. */
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, then exit(status). */
void die(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Never NULL: without memory the program ends with a message and status 125. */
void *xmalloc(size_t n) __attribute__((returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((returns_nonnull));
void *xrealloc(void *p, size_t n) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), returns_nonnull));
/* `text', or nothing if it is NULL, and more behind it. In place of `text', which is freed. */
char *xappend(char *text, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), returns_nonnull));

/*
 * A stream into memory. At memory_end() *text is what was written, of *bytes bytes without its NUL,
 * and the caller's to free. Without memory for all of it the program ends as in xmalloc().
 */
FILE *memory_begin(char **text, size_t *bytes) __attribute__((returns_nonnull));
void memory_end(FILE *f);

/* A random number, not 0. */
uint64_t random_word(void);

/* Room for one more element in an array of n with capacity *cap (grows x 2). */
void *grow(void *array, size_t n, size_t *cap, size_t element_bytes);
/* Adds an element to such an array; the pointer to it, which the caller fills. */
#define APPEND(array, n, cap) ((array) = grow(array, n, &(cap), sizeof(*(array))), &(array)[(n)++])
/* The same for o->list, of which there are o->n_list with room for o->cap_list. */
#define LIST_ADD(o, list) APPEND((o)->list, (o)->n_##list, (o)->cap_##list)

/* LIST_GETTER(books_all, struct shop, struct book, books): a function that gives o->books, and in
 * *n o->n_books. */
#define LIST_GETTER(name, owner, type, list)                                                       \
	const type *name(const owner *o, size_t *n)                                                \
	{                                                                                          \
		*n = o->n_##list;                                                                  \
		return o->list;                                                                    \
	}

/*
 * Makes the name of a program or node, which anybody may have chosen, fit for the name of a
 * file: cut, so that endings have room, with '_' in place of '/', control characters and a
 * '.' in front; "unknown" if it is empty. The caller frees.
 */
char *file_base(const char *program);
/* "." of "a", "/" of "/a", "a" of "a/b". The caller frees. */
char *file_directory(const char *path);
/* True if a regular file's first bytes are these, at most 16 of them. */
bool file_begins_with(const char *path, const char *magic);
bool text_ends_with(const char *s, const char *end);

/* NULL if path is a regular file of this user, else the reason. st: of lstat(), or NULL. */
struct stat;
const char *not_own_file(const char *path, const struct stat *st);
/* Makes the folder, unless it is there; NULL if it is this user's alone, else the reason. */
const char *not_own_folder(const char *folder);

/*
 * Raises the limit of open files as far as the system allows: an agent has one for each thread and
 * each other agent.
 */
void raise_file_limit(void);
/* Bytes of address space that this process has, or 0. */
uint64_t address_space(void);

/* (double)value, in one instruction in place of some 30 where 63 bits are enough. */
static inline double double_of(unsigned __int128 value)
{
	return value >> 63 ? (double)value : (double)(int64_t)value;
}

/*
 * Output files are new ones, and never half-written: write_begin() makes one beside
 * PATH, under a name that nobody can guess and through no link; write_end() flushes,
 * checks and renames it to PATH, or removes it; write_abort() removes it. All stay in the
 * directory that PATH was in at first. Devices such as /dev/stdout are written as they
 * are. If two runs write one PATH, the file of the one that ends last remains.
 * Return 0 or -errno; on error write_begin() sets *f to NULL, and w must not be used.
 */
struct writing;
int write_begin(FILE **f, struct writing **w, const char *path);
int write_end(FILE *f, struct writing *w);
void write_abort(FILE *f, struct writing *w);
/* Makes write_end() wait until the file is on the disk, so that it survives a crash of the node. */
void write_durable(struct writing *w);

/* A suffix for the temporary name of a new file or folder. The caller frees. */
char *write_suffix(void);
/* Opens a new, empty file in place of a regular file or link at path. -1 and errno on error. */
int open_replaced(const char *path, int flags);

/*
 * Reads n bytes of a file from this offset on, by as many reads as that takes. Returns their
 * number, which is less than n at the end of the file (errno 0) or if it cannot be read.
 */
size_t read_at(int fd, void *to, size_t n, uint64_t offset);

/*
 * An upper bound of the bytes to read at once from a file of others: about its blocks on
 * the disk (maybe compressed), not its size, which may be a hole; never more than 1 GiB.
 */
struct stat;
uint64_t plausible_bytes(const struct stat *st);

#endif
