/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/base/table.h"

const char *program_name = "vftr";

static void say_line(const char *fmt, va_list args)
{
	char line[2048], *plain;

	/* one write, so that the lines of several agents do not mix */
	int n = snprintf(line, sizeof(line), "%s: ", program_name);
	n += vsnprintf(line + n, sizeof(line) - n - 1, fmt, args);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\0';
	plain = text_plain(line); /* names are in it, which may hold anything */
	n = (int)strlen(plain);
	plain[n++] = '\n';
	if (write(STDERR_FILENO, plain, (size_t)n) < 0)
		n = 0;
	free(plain);
}

void complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_line(fmt, args);
	va_end(args);
}

void die(int status, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	say_line(fmt, args);
	va_end(args);
	exit(status);
}

static void *checked(void *p)
{
	if (!p)
		die(125, "out of memory");
	return p;
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	va_end(args);
	return checked(s);
}

char *xappend(char *text, const char *fmt, ...)
{
	const size_t n = text ? strlen(text) : 0;
	va_list args;
	char *more;
	int bytes;

	va_start(args, fmt);
	bytes = vasprintf(&more, fmt, args);
	va_end(args);
	if (bytes < 0)
		die(125, "out of memory");
	text = xrealloc(text, n + (size_t)bytes + 1);
	memcpy(text + n, more, (size_t)bytes + 1);
	free(more);
	return text;
}

/*
 * A stream of open_memstream() that finds no memory leaves out what it is given: neither ferror()
 * nor fclose() tells.
 */
struct memory_stream {
	char **text;
	size_t *bytes, cap;
};

static ssize_t memory_write(void *cookie, const char *from, size_t n)
{
	struct memory_stream *s = cookie;

	if (*s->bytes + n >= s->cap) {
		char *more = realloc(*s->text, 2 * s->cap + n);

		if (!more)
			return 0; /* an error of the stream */
		s->cap = 2 * s->cap + n;
		*s->text = more;
	}
	memcpy(*s->text + *s->bytes, from, n);
	*s->bytes += n;
	(*s->text)[*s->bytes] = '\0';
	return (ssize_t)n;
}

/* For ftell(). */
static int memory_seek(void *cookie, off64_t *offset, int whence)
{
	const struct memory_stream *s = cookie;

	if (whence != SEEK_CUR || *offset)
		return -1;
	*offset = (off64_t)*s->bytes;
	return 0;
}

static int memory_close(void *cookie)
{
	free(cookie);
	return 0;
}

FILE *memory_begin(char **text, size_t *bytes)
{
	static const cookie_io_functions_t calls = {
		.write = memory_write, .seek = memory_seek, .close = memory_close};
	struct memory_stream *s = xmalloc(sizeof(*s));

	*s = (struct memory_stream){.text = text, .bytes = bytes, .cap = 1};
	*text = xcalloc(1, s->cap);
	*bytes = 0;
	return checked(fopencookie(s, "w", calls));
}

void memory_end(FILE *f)
{
	const bool failed = ferror(f);

	if (fclose(f) || failed)
		die(125, "out of memory");
}

void *grow(void *array, size_t n, size_t *cap, size_t element_bytes)
{
	if (n < *cap)
		return array;
	*cap = *cap ? *cap * 2 : 16;
	return xrealloc(array, *cap * element_bytes);
}

char *file_base(const char *program)
{
	size_t n = strlen(program);
	char *base;

	if (n > CONF_BASENAME_MAX)
		for (n = CONF_BASENAME_MAX; (program[n] & 0xc0) == 0x80 && n > 1;) /* UTF-8 */
			n--;
	if (!n)
		return xstrdup("unknown");
	base = xasprintf("%.*s", (int)n, program);
	for (char *c = base; *c; c++)
		if (*c == '/' || (unsigned char)*c < ' ' || *c == 0x7f || (c == base && *c == '.'))
			*c = '_';
	return base;
}

char *file_directory(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return xasprintf("%.*s", (int)(slash == path ? 1 : slash - path), path);
}

const char *not_own_file(const char *path, const struct stat *st)
{
	struct stat now;

	if (!st) {
		if (lstat(path, &now))
			return strerror(errno);
		st = &now;
	}
	return S_ISLNK(st->st_mode)	 ? "it is a link"
	       : !S_ISREG(st->st_mode)	 ? "it is not a regular file"
	       : st->st_uid != geteuid() ? "it belongs to another user"
					 : NULL;
}

const char *not_own_folder(const char *folder)
{
	struct stat st;

	if ((mkdir(folder, 0700) && errno != EEXIST) || lstat(folder, &st))
		return strerror(errno);
	return !S_ISDIR(st.st_mode)	? "it is not a directory"
	       : st.st_uid != geteuid() ? "it belongs to another user"
	       : st.st_mode & 077	? "others may enter it (it must have mode 0700)"
					: NULL;
}

void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

uint64_t address_space(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (f && fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t plausible_bytes(const struct stat *st)
{
	const uint64_t least = 16u << 20, most = 1u << 30, times = 4;
	const uint64_t bytes = (uint64_t)st->st_blocks * 512;

	if (bytes > most / times)
		return most;
	return bytes * times > least ? bytes * times : least;
}

size_t read_at(int fd, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (char *)to + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (!got)
			errno = 0;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

uint64_t random_word(void)
{
	uint64_t x = 0;

	if (getrandom(&x, sizeof(x), 0) != sizeof(x) || !x || !~x)
		x = (uint64_t)getpid() << 32 ^ (uint64_t)time(NULL) ^ 1;
	return x;
}

bool file_begins_with(const char *path, const char *magic)
{
	const size_t n = strlen(magic);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	char head[16];
	bool yes = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && n <= sizeof(head) &&
		   read(fd, head, n) == (ssize_t)n && !memcmp(head, magic, n);

	if (fd >= 0)
		close(fd);
	return yes;
}

bool text_ends_with(const char *s, const char *end)
{
	const size_t n = strlen(s), k = strlen(end);

	return n >= k && !strcmp(s + n - k, end);
}
