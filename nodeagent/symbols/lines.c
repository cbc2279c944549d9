/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "nodeagent/symbols/elf-file.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/sandbox/sandbox.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "shm/clock.h"
#include "shm/fnv.h"

#define MEMORY_MAX ((rlim_t)4 << 30) /* bytes beyond ours */
#define TEXT_MAX   1024		     /* of an answer; of a longer path only the name is shown */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#else
#define SANITIZED false
#endif

struct found {
	char *path;
	uint64_t address;
	struct source_place place; /* file: owned, or NULL */
	char *text;		   /* or NULL */
};

struct source_lines {
	struct found *all;
	size_t n, cap;
	struct map64 at; /* hash of path and address -> the first of all[] */
};

struct source_lines *source_lines_new(void)
{
	return xcalloc(1, sizeof(struct source_lines));
}

void source_lines_free(struct source_lines *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++) {
		free(l->all[i].path);
		free((char *)l->all[i].place.file);
		free(l->all[i].text);
	}
	free(l->all);
	map64_free(&l->at);
	free(l);
}

static uint64_t hash_of(const struct code_location *p)
{
	uint64_t h = fnv_text(p->address * 0x9e3779b97f4a7c15u, p->path);

	return fnv_bytes(h, p->build_id, p->build_id_bytes);
}

static struct found *find_line(const struct source_lines *l, const struct code_location *p)
{
	const uint32_t *i = map64_find(&l->at, hash_of(p));
	struct found *f = i ? &l->all[*i] : NULL;

	return f && f->address == p->address && !strcmp(f->path, p->path) ? f : NULL;
}

const char *source_lines_find(const struct source_lines *l, const struct code_location *location)
{
	const struct found *f = find_line(l, location);

	return f ? f->text : NULL;
}

struct source_place source_lines_place(
	const struct source_lines *l, const struct code_location *location)
{
	const struct found *f = find_line(l, location);

	return f ? f->place : (struct source_place){NULL, 0};
}

/* ---- in the child --------------------------------------------------------------- */

struct wanted {
	const struct code_location *location;
	size_t index; /* into what the parent asked for */
	bool found;
};

static void limit(int resource, rlim_t most)
{
	struct rlimit r;

	if (getrlimit(resource, &r))
		return;
	if (r.rlim_max != RLIM_INFINITY && most > r.rlim_max)
		most = r.rlim_max;
	r.rlim_cur = most;
	setrlimit(resource, &r);
}

static void limit_all(double seconds)
{
	const uint64_t now = address_space();

	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, (rlim_t)seconds + 1);
	if (now)
		limit(RLIMIT_AS, (rlim_t)now + MEMORY_MAX);
}

/*
 * Files and sockets of the parent are none of its business, nor are standard input and output,
 * which are those of the traced program, too. Returns fd, or a copy behind those.
 */
static int keep_only(int fd)
{
	/* a sanitizer says on standard error what it has found */
	const int last = SANITIZED ? STDOUT_FILENO : STDERR_FILENO,
		  out = fd > STDERR_FILENO ? fd : fcntl(fd, F_DUPFD, STDERR_FILENO + 1);
	int nothing;

	if (out < 0)
		_exit(1);
	close_range(STDERR_FILENO + 1, (unsigned)out - 1, 0);
	close_range((unsigned)out + 1, ~0u, 0);
	nothing = open("/dev/null", O_RDWR);
	for (int i = STDIN_FILENO; i <= last; i++)
		if (nothing < 0 || dup2(nothing, i) < 0)
			close(i);
	return out;
}

/* One line of output: index, number of the source line, file. */
static void say_place(int fd, size_t index, int line, const char *folder, const char *file)
{
	const char *in = *file == '/' ? "" : folder;
	char *text = xasprintf("%zu %d %s%s", index, line, in, file);
	size_t n = strlen(text);

	if (n > TEXT_MAX) {
		free(text);
		text = xasprintf("%zu %d %.*s", index, line, TEXT_MAX / 2, basename(file));
		n = strlen(text);
	}
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == '<')
			text[i] = '?'; /* '<' is what parts the names of a path */
	text[n++] = '\n';
	if (write(fd, text, n) != (ssize_t)n)
		_exit(1);
	free(text);
}

/* The folder in which the compiler was called, with a '/', or "". The caller frees. */
static char *folder_of(Dwarf_Die *unit)
{
	Dwarf_Attribute a;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &a));

	return folder && *folder ? xasprintf("%s/", folder) : xstrdup("");
}

/* The first of the unit's lines at an address or behind it. */
static size_t first_line(Dwarf_Lines *lines, size_t n, uint64_t address)
{
	Dwarf_Addr at;

	return LOWER_BOUND(
		i, 0, n, !dwarf_lineaddr(dwarf_onesrcline(lines, i), &at) && at < address);
}

/*
 * Of several lines at one address libdw gives the last. A construct known by its
 * body is asked for at the body's first instruction, where the first of them is
 * the construct's own; so is that of a function that begins with what was inlined.
 */
static Dwarf_Line *first_at(Dwarf_Die *unit, uint64_t address, Dwarf_Line *last)
{
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n))
		return last;
	for (size_t i = first_line(lines, n, address); i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr at;
		bool is_end;

		if (dwarf_lineaddr(line, &at) || at != address)
			return last;
		if (!dwarf_lineendsequence(line, &is_end) && !is_end)
			return line;
	}
	return last;
}

static bool line_of(Dwarf_Die *unit, uint64_t address, const char **file, int *number)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);
	Dwarf_Addr at;

	if (line && !dwarf_lineaddr(line, &at) && at == address)
		line = first_at(unit, address, line);
	*file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	return *file && !dwarf_lineno(line, number) && *number > 0;
}

/* The first of w[0..n), which are by address, that is not below `from`. */
static size_t first_wanted(const struct wanted *w, size_t n, uint64_t from)
{
	return LOWER_BOUND(i, 0, n, w[i].location->address < from);
}

/* Those in one unit. Returns how many were found. */
static size_t search_unit(Dwarf_Die *unit, struct wanted *w, size_t n, int fd)
{
	Dwarf_Addr base, from, to;
	char *folder = folder_of(unit);
	ptrdiff_t range = 0;
	size_t found = 0;

	while ((range = dwarf_ranges(unit, range, &base, &from, &to)) > 0) {
		for (size_t i = first_wanted(w, n, from); i < n && w[i].location->address < to;
			i++) {
			const char *file;
			int line;

			if (w[i].found || !line_of(unit, w[i].location->address, &file, &line))
				continue;
			w[i].found = true;
			found++;
			say_place(fd, w[i].index, line, folder, file);
		}
	}
	free(folder);
	return found;
}

/* All units, as not all compilers write an index of them. */
static void search(Dwarf *dwarf, struct wanted *w, size_t n, int fd)
{
	Dwarf_Off offset = 0, next;
	size_t header, left = n;

	while (left && !dwarf_nextcu(dwarf, offset, &next, &header, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (next <= offset)
			return;
		if (dwarf_offdie(dwarf, offset + header, &unit))
			left -= search_unit(&unit, w, n, fd);
		offset = next;
	}
}

static bool search_in(struct elf_file *file, struct wanted *w, size_t n, int fd)
{
	Dwarf *dwarf = file ? dwarf_begin_elf(file->elf, DWARF_C_READ, NULL) : NULL;

	if (!dwarf)
		return false;
	search(dwarf, w, n, fd);
	dwarf_end(dwarf);
	return true;
}

/* w[0..n) are of one file. */
static void read_file(struct wanted *w, size_t n, int fd)
{
	const char *path = w[0].location->path;
	struct elf_file *file, *debug;

	if (elf_open(path, &file, NULL))
		return;
	if (elf_has_build_id(file, w[0].location->build_id, w[0].location->build_id_bytes) &&
		!search_in(file, w, n, fd)) {
		debug = elf_debug_file(file, path);
		search_in(debug, w, n, fd);
		elf_close(debug);
	}
	elf_close(file);
}

ORDER_BY(by_file, struct wanted,
	ALPHABETIC(location->path) ?: RISING(location->build_id_bytes) ?:
	(x->location->build_id_bytes ? memcmp(x->location->build_id, y->location->build_id, x->location->build_id_bytes) : 0))
ORDER_BY(by_address, struct wanted, by_file(x, y) ?: RISING(location->address))

static void read_all(struct wanted *w, size_t n, int fd, double seconds)
{
	limit_all(seconds);
	fd = keep_only(fd);
	sandbox_enter(SANDBOX_READER);
	qsort(w, n, sizeof(*w), by_address);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && !by_file(&w[i], &w[end]); end++)
			;
		read_file(w + i, end - i, fd);
	}
}

/* ---- in the parent --------------------------------------------------------------- */

static void take_line(struct source_lines *l, size_t first, char *line)
{
	char *at;
	unsigned long long i = strtoull(line, &at, 10), number;
	struct found *f;

	if (*at != ' ' || i >= l->n - first)
		return;
	f = &l->all[first + i];
	number = strtoull(at + 1, &at, 10);
	if (*at != ' ' || !at[1] || f->text || number > INT32_MAX)
		return;
	f->place = (struct source_place){xstrdup(at + 1), (uint32_t)number};
	f->text = xasprintf("%s:%llu", basename(at + 1), number);
}

/* Until it ends or takes too long; false then. */
static bool take_lines(struct source_lines *l, size_t first, int fd, double seconds)
{
	uint64_t from = clock_raw_ns(), limit_ns = (uint64_t)(seconds * 1e9);
	char line[TEXT_MAX + 65], part[4096];
	size_t used = 0;

	for (;;) {
		struct pollfd p = {.fd = fd, .events = POLLIN};
		uint64_t spent = clock_raw_ns() - from;
		ssize_t n;

		if (spent >= limit_ns || !poll(&p, 1, (int)((limit_ns - spent) / 1000000) + 1))
			return false;
		n = read(fd, part, sizeof(part));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return true;
		for (ssize_t i = 0; i < n; i++) {
			if (part[i] != '\n') {
				line[used] = part[i];
				used += used + 1 < sizeof(line);
				continue;
			}
			line[used] = '\0';
			used = 0;
			take_line(l, first, line);
		}
	}
}

/* l->all[first] and those behind it are those of w[]. */
static bool ask_child(
	struct source_lines *l, size_t first, struct wanted *w, size_t n, double seconds)
{
	pid_t parent = getpid(), child;
	bool in_time = true;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return true;
	child = fork();
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() == parent)
			read_all(w, n, ends[1], seconds);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0) {
		in_time = take_lines(l, first, ends[0], seconds);
		kill(child, SIGKILL);
		while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(ends[0]);
	return in_time;
}

bool source_lines_read(
	struct source_lines *l, const struct code_location *locations, size_t n, double seconds)
{
	struct wanted *w = xmalloc((n + 1) * sizeof(*w));
	size_t first = l->n, wanted = 0;
	bool in_time = true;

	for (size_t i = 0; i < n; i++) {
		const struct code_location *p = &locations[i];

		if (!p->path || find_line(l, p))
			continue;
		w[wanted] = (struct wanted){.location = p, .index = wanted};
		wanted++;
		map64_add(&l->at, hash_of(p), (uint32_t)l->n);
		*APPEND(l->all, l->n, l->cap) =
			(struct found){.path = xstrdup(p->path), .address = p->address};
	}
	if (wanted)
		in_time = ask_child(l, first, w, wanted, seconds);
	free(w);
	return in_time;
}
