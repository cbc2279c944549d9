/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What descriptors stand for. Nobody tells of all of them (sockets, pipes, those that were there
 * before the program), so one that is new to us is looked up in /proc, once: it is forgotten
 * when it is closed. Two threads that use one descriptor may lose each other's change of a
 * position, which makes a read or write look as if it jumped.
 */
#include "libc/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "shm/atomic.h"

#define PAGES	 1024u
#define PER_PAGE 1024u

static uint64_t pages[PAGES]; /* addresses, or 0 */

static uint64_t new_page(uint64_t *page)
{
	long at = syscall(SYS_mmap, NULL, PER_PAGE * sizeof(struct descriptor),
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == -1)
		return 0;
	if (!claim_u64(page, 0, (uint64_t)at))
		syscall(SYS_munmap, at, PER_PAGE * sizeof(struct descriptor));
	return load_acquire(page); /* pairs with the claim of whoever made it */
}

/* NULL: no table has it. */
static struct descriptor *entry(int fd, bool make)
{
	unsigned n = (unsigned)fd;
	uint64_t page;

	if (n >= PAGES * PER_PAGE)
		return NULL;
	page = load_acquire(&pages[n / PER_PAGE]); /* the same */
	if (!page && make)
		page = new_page(&pages[n / PER_PAGE]);
	return page ? (struct descriptor *)(uintptr_t)page + n % PER_PAGE : NULL;
}

/* ---- looking one up ---- */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static const char *class_of(const char *link)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(link), m = sizeof(deleted) - 1;

	if (begins(link, "pipe:"))
		return FILE_NAME_PIPES;
	if (begins(link, "socket:"))
		return FILE_NAME_SOCKETS;
	if (begins(link, "/dev/pts/") || begins(link, "/dev/tty") || begins(link, "/dev/console"))
		return FILE_NAME_TERMINALS;
	if (link[0] != '/' || begins(link, "/memfd:"))
		return FILE_NAME_OTHERS;
	if (n > m && !strcmp(link + n - m, deleted))
		return FILE_NAME_TEMPORARY;
	return link;
}

static char *add_number(char *to, unsigned n)
{
	if (n >= 10)
		to = add_number(to, n / 10);
	*to++ = (char)('0' + n % 10);
	return to;
}

static uint32_t look_up(int fd)
{
	char place[64] = "/proc/thread-self/fd/", link[FILE_NAME_BYTES];
	long n;

	if (fd < 0)
		return files_number(FILE_NAME_FAILED);
	*add_number(place + strlen(place), (unsigned)fd) = '\0';
	n = syscall(SYS_readlinkat, AT_FDCWD, place, link, sizeof(link) - 1);
	if (n > 0) {
		link[n] = '\0';
		return files_number(class_of(link));
	}
	return files_number(
		syscall(SYS_fcntl, fd, F_GETFD) < 0 ? FILE_NAME_FAILED : FILE_NAME_OTHERS);
}

struct descriptor *files_descriptor(int fd)
{
	static __thread struct descriptor nowhere __attribute__((tls_model("initial-exec")));
	struct descriptor *d = entry(fd, true);
	int saved_errno = errno;
	long flags, at;
	uint32_t number;

	if (d && likely(d->known)) {
		files_tell(d->known - 1);
		return d;
	}
	number = look_up(fd);
	flags = syscall(SYS_fcntl, fd, F_GETFL);
	if (!d || flags < 0) /* what is not open may be opened by somebody whom we do not see */
		d = &nowhere;
	at = syscall(SYS_lseek, fd, 0, SEEK_CUR);
	d->known = number + 1;
	d->appends = flags >= 0 && flags & O_APPEND;
	d->position = d->next = at < 0 ? 0 : at;
	errno = saved_errno;
	return d;
}

/* ---- changes ---- */

bool files_knows(int fd)
{
	const struct descriptor *d = entry(fd, false);

	return d && d->known;
}

void files_forget(int fd)
{
	struct descriptor *d = entry(fd, false);

	if (d)
		d->known = 0;
}

void files_forget_range(unsigned first, unsigned last)
{
	if (last >= PAGES * PER_PAGE)
		last = PAGES * PER_PAGE - 1;
	for (unsigned n = first; n <= last; n++) {
		if (!load_acquire(&pages[n / PER_PAGE]))
			n |= PER_PAGE - 1;
		else
			files_forget((int)n);
	}
}

void files_same(int from, int to)
{
	const struct descriptor *d = entry(from, false);
	struct descriptor *copy = entry(to, d && d->known);

	if (copy && d && d->known)
		*copy = *d;
	else if (copy)
		copy->known = 0;
}
