/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/process/procfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "shm/fnv.h"

int procfs_maps_has(int pid, const char *text)
{
	char path[64], line[4608];
	int found = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f && (errno == EACCES || errno == EPERM))
		return -2;
	while (f && found != 1 && fgets(line, sizeof(line), f))
		found = strstr(line, text) != NULL;
	if (f)
		fclose(f);
	return found;
}

uint64_t procfs_mapped_code(int pid)
{
	char path[64], line[4608], flags[8];
	uint64_t sum = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		sum |= 1;
		if (sscanf(line, "%*s %7s", flags) == 1 && flags[2] == 'x' && strchr(line, '/'))
			sum = fnv_text(sum, line) | 1;
	}
	if (f)
		fclose(f);
	return sum;
}

static bool same_file(int pid, const char *name)
{
	char path[64], own[64];
	struct stat a, b;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	snprintf(own, sizeof(own), "/proc/self/%s", name);
	return stat(path, &a) || stat(own, &b) || (a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

bool procfs_has_other_root(int pid)
{
	return !same_file(pid, "ns/mnt") || !same_file(pid, "root/.");
}

/* The root of a process as the kernel tells it to us, and its bytes: paths in its maps begin with
 * it, where it is another than ours. 0: with nothing. */
static size_t bytes_above_root(int pid, char *root, size_t size)
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/root", pid);
	n = readlink(path, root, size - 1);
	n = n > 1 ? n : 0;
	root[n] = 0;
	return (size_t)n;
}

char *procfs_maps_by_root(int pid)
{
	char path[64], line[4608], root[4096], *text = NULL;
	const size_t above = bytes_above_root(pid, root, sizeof(root));
	size_t bytes;
	FILE *f, *out;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	out = f ? open_memstream(&text, &bytes) : NULL;
	while (out && fgets(line, sizeof(line), f)) {
		const int n = (int)strcspn(line, "/");
		const char *file = line + n;

		if (!strncmp(file, root, above) && file[above] == '/')
			file += above;
		fprintf(out, line[n] ? "%.*s/proc/%d/root%s" : "%.*s", n, line, pid, file);
	}
	if (out)
		fclose(out);
	if (f)
		fclose(f);
	return text;
}

bool procfs_cut_deleted(char *path)
{
	char *behind = strrchr(path, ' ');

	if (!behind || strcmp(behind, " (deleted)") || !access(path, F_OK))
		return false;
	*behind = 0;
	return true;
}

void procfs_read_newlines(char *path)
{
	for (char *at = path; (at = strstr(at, "\\012")) && access(path, F_OK);) {
		*at++ = '\n';
		memmove(at, at + 3, strlen(at + 3) + 1);
	}
}

struct mapping {
	uint64_t low, high, inode;
	char *path; /* NULL: no file is mapped there */
};

static struct mapping mapping_at(int pid, uint64_t address)
{
	char path[64], line[4608];
	struct mapping m = {.path = NULL};
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && !m.path && fgets(line, sizeof(line), f)) {
		char *file = strchr(line, '/');

		if (!file ||
			sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64, &m.low,
				&m.high, &m.inode) != 3 ||
			address < m.low || address >= m.high)
			continue;
		line[strcspn(line, "\n")] = 0;
		procfs_read_newlines(file);
		m.path = xstrdup(file);
	}
	if (f)
		fclose(f);
	return m;
}

char *procfs_mapped_file(int pid, uint64_t address)
{
	char *path = mapping_at(pid, address).path;

	if (path)
		procfs_cut_deleted(path);
	return path;
}

/*
 * A library on another device may have the number of the program, so the path is compared, too. The
 * device cannot be: on btrfs and overlayfs it is another one in maps than for stat(2).
 */
static bool is_program(const char *exe, const struct mapping *m, const char *path)
{
	char runs[4096];
	const ssize_t n = readlink(exe, runs, sizeof(runs) - 1);
	struct stat st;

	if (n <= 0)
		return false;
	runs[n] = 0;
	if (m->path)
		return !strcmp(runs, m->path) && !stat(exe, &st) && st.st_ino == m->inode;
	procfs_cut_deleted(runs);
	return !strcmp(runs, path);
}

char *procfs_removed_file(int pid, uint64_t address, const char *path)
{
	const struct mapping m = mapping_at(pid, address);
	char *readable = xasprintf("/proc/%d/exe", pid);

	if (!is_program(readable, &m, path)) {
		free(readable);
		readable = m.path ? xasprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, m.low,
					    m.high)
				  : NULL;
	}
	free(m.path);
	return readable;
}

uint64_t procfs_program(int pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return stat(path, &st) ? 0 : (uint64_t)st.st_dev << 40 ^ (uint64_t)st.st_ino;
}

bool procfs_variable(int pid, const char *name, char *value, size_t bytes)
{
	const size_t length = strlen(name);
	bool found = false;
	char path[64], *line = NULL;
	size_t cap = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	f = fopen(path, "re");
	while (f && !found && (n = getdelim(&line, &cap, 0, f)) > 0)
		found = (size_t)n > length && !strncmp(line, name, length) && line[length] == '=';
	if (found)
		found = strlen(line + length + 1) < bytes;
	if (found)
		strcpy(value, line + length + 1);
	free(line);
	if (f)
		fclose(f);
	return found;
}

/* Linux 6.13, ioctl(2) on a pidfd; the headers of older systems lack it. */
struct pidfd_exit_info {
	uint64_t mask;
	uint64_t cgroup;
	uint32_t ids[11];
	int32_t exit_code;
};
#define PIDFD_INFO_EXIT_BIT 8u
#define PIDFD_INFO_IOCTL    _IOWR(0xFF, 11, struct pidfd_exit_info)

_Static_assert(sizeof(struct pidfd_exit_info) == 64, "the kernel's first version");

static bool from_pidfd(int pidfd, int *status)
{
	struct pidfd_exit_info info = {.mask = PIDFD_INFO_EXIT_BIT};

	if (pidfd < 0 || ioctl(pidfd, PIDFD_INFO_IOCTL, &info) ||
		!(info.mask & PIDFD_INFO_EXIT_BIT))
		return false;
	*status = info.exit_code;
	return true;
}

/* The fields from its state on, or NULL. */
static char *stat_of(int pid, char *line, size_t bytes)
{
	char path[64], *p = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	if (fgets(line, (int)bytes, f) && (p = strrchr(line, ')')))
		p = p[1] == ' ' ? p + 2 : NULL;
	fclose(f);
	return p;
}

/* The status of a process whose parent has not waited for it: the last field of its line. */
static bool from_zombie(int pid, int *status)
{
	char line[2048], *p = stat_of(pid, line, sizeof(line)), *last;

	if (!p || *p != 'Z' || !(last = strrchr(p, ' ')))
		return false;
	*status = atoi(last + 1);
	return true;
}

uint64_t procfs_began(int pid)
{
	char line[2048], state, *p = stat_of(pid, line, sizeof(line));
	unsigned long long began;
	long threads;

	/* fields 3, 20 and 22; a first thread that has ended is a zombie beside those that live */
	if (!p || sscanf(p,
			  "%c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld "
			  "%*d %llu",
			  &state, &threads, &began) != 3)
		return 0;
	return (state == 'Z' || state == 'X') && threads <= 1 ? 0 : began;
}

int procfs_parent(int pid)
{
	char line[2048], *p = stat_of(pid, line, sizeof(line));

	return p && p[1] ? atoi(p + 2) : 0;
}

bool procfs_thread_name(int pid, int tid, char name[16])
{
	char path[64], line[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	snprintf(name, 16, "%.15s", line);
	return !fclose(f) && line[0];
}

bool procfs_is_stopped(int pid)
{
	char line[2048], *p = stat_of(pid, line, sizeof(line));

	return p && *p == 'T';
}

bool procfs_may_only_run(const char *path)
{
	return !access(path, X_OK) && access(path, R_OK) && errno == EACCES;
}

bool procfs_has_other_user(int pid)
{
	char path[64], line[256];
	unsigned effective = geteuid();
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Uid: %*u %u", &effective) != 1)
		;
	if (f)
		fclose(f);
	return effective != geteuid();
}

/* The sum of its ticks of CPU time and of its first thread's context switches. */
static uint64_t own_work(int pid)
{
	unsigned long long n, user, system;
	uint64_t sum = 0;
	char path[64], line[2048], *p = stat_of(pid, line, sizeof(line));
	FILE *f;

	if (p && sscanf(p, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user,
			 &system) == 2)
		sum = user + system;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &n) == 1 ||
			sscanf(line, "nonvoluntary_ctxt_switches: %llu", &n) == 1)
			sum += n;
	if (f)
		fclose(f);
	return sum;
}

uint64_t procfs_work(int pid)
{
	uint64_t sum = own_work(pid);
	char path[64];
	int child;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "re");
	while (f && fscanf(f, "%d", &child) == 1)
		sum += own_work(child);
	if (f)
		fclose(f);
	return sum;
}

bool procfs_exit_status(int pidfd, int pid, int *status)
{
	/* most are waited for at once; who is only now, is asked for once more */
	return from_pidfd(pidfd, status) || from_zombie(pid, status) || from_pidfd(pidfd, status);
}

/* As clock_getcpuclockid(3) has it, which asks the kernel first whether the process is there. */
static clockid_t cpu_clock(int pid)
{
	return (clockid_t)(~(unsigned)pid << 3 | 2u);
}

static uint64_t cpu_ns(int pid)
{
	struct timespec t;

	if (pid <= 0 || clock_gettime(cpu_clock(pid), &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Its time on a CPU, its time in the queue for one, how often it was given one. */
uint64_t procfs_queued_ns(int dir, const char *path)
{
	uint64_t queued = 0;
	char line[128];
	ssize_t n;
	int fd;

	fd = openat(dir, path, O_RDONLY | O_CLOEXEC); /* of each short child: no stdio */
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = 0;
	return sscanf(line, "%*u %" SCNu64, &queued) == 1 ? queued : 0;
}

struct cpu_used cpu_used(int pid)
{
	struct cpu_used used = {.cpu = cpu_ns(pid)};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	if (used.cpu)
		used.queued = procfs_queued_ns(AT_FDCWD, path);
	return used;
}

struct cpu_used cpu_used_since(struct cpu_used now, struct cpu_used before)
{
	struct cpu_used since = {0};

	if (!before.cpu || now.cpu <= before.cpu)
		return since;
	since.cpu = now.cpu - before.cpu;
	if (now.queued > before.queued)
		since.queued = now.queued - before.queued;
	return since;
}
