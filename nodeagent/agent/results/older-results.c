/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/results/older-results.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "nodeagent/agent/results/folder-lock.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/base/hash.h"
#include "nodeagent/base/map.h"
#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/trace/run.h"

#define OLD	   ".old"
#define OLD_MOST   1000000
#define HEAD_BYTES 1024
/* The times of files are those of the kernel's last tick, or a little before; on other file systems
 * those of a server, whose clock may differ so much. */
#define COARSE_S 0.02
#define REMOTE_S 1.0

/* A result, or one that was kept earlier. */
struct kept {
	char *name, *base, *who; /* name: without .oldN */
	enum result_kind kind;
	unsigned number; /* of .old, from 1; 0: none */
	uint64_t run;	 /* 0: not known */
	bool ours;
};

struct folder {
	struct host *host;
	const char *base;
	bool at_start;	 /* of a sampling file: what is in its place is of another run */
	bool stacks;	 /* only files of call stacks; else all but these */
	bool part;	 /* only what this agent may move, and what tells the run of that */
	double coarse_s; /* so much earlier than our clock says a file may have been written */
	struct kept *files;
	size_t n, cap;
	struct map64 runs; /* index_runs() */
};

/* ---- what is there ---------------------------------------------------------------- */

static char *name_of(const struct kept *k)
{
	if (!k->number)
		return xstrdup(k->name);
	return k->number == 1 ? xasprintf("%s" OLD, k->name)
			      : xasprintf("%s" OLD "%u", k->name, k->number);
}

/* Cuts ".old", ".old2" ... from a name; its number, or 0. */
static unsigned cut_number(char *name)
{
	char *old = strstr(name, OLD), *next;
	unsigned number;

	while (old && (next = strstr(old + 1, OLD)))
		old = next;
	if (!old || old[strlen(OLD) + strspn(old + strlen(OLD), "0123456789")])
		return 0;
	number = old[strlen(OLD)] ? (unsigned)strtoul(old + strlen(OLD), NULL, 10) : 1;
	*old = '\0';
	return number;
}

static uint64_t run_of_json(const char *path)
{
	char head[HEAD_BYTES + 1], *at;
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? 0 : read(fd, head, HEAD_BYTES);

	if (fd >= 0)
		close(fd);
	head[n > 0 ? n : 0] = '\0';
	at = strstr(head, "\"run\":\"");
	return at ? strtoull(at + strlen("\"run\":\""), NULL, 16) : 0;
}

static uint64_t run_in(enum result_kind kind, const char *path)
{
	switch (kind) {
	case RESULT_NODE_PROFILE:
		return vfp_run(path);
	case RESULT_SAMPLES:
		return vfd_run(path);
	case RESULT_PROFILE:
		return run_of_json(path);
	default:
		return 0;
	}
}

/* Rounds of a session go with their run. */
static bool belongs_to(const char *base, const char *wanted)
{
	const size_t n = strlen(wanted);

	return !strcmp(base, wanted) || (!strncmp(base, wanted, n) && result_is_round(base) &&
						(!n || !strncmp(base + n, ".round", 6)));
}

/*
 * The first of several agents, or the only one, writes what is of the whole job, and so moves
 * what is there. The others write, and move, only what is of their node: if they moved
 * the summary of another run, nothing would come into its place.
 */
static bool moves_all(struct host *host)
{
	const struct agent *a = agent_of(host);

	return a->host.transport ? !a->host.transport->rank : !a->several;
}

static bool is_of_our_node(const struct folder *f, enum result_kind kind, const char *who)
{
	return who && kind != RESULT_RANK_LOG && f->host->name && result_is_of(who, f->host->name);
}

static bool is_ours_to_move(const struct folder *f, const struct kept *k)
{
	return moves_all(f->host) || is_of_our_node(f, k->kind, k->who);
}

/* Without a look into it: there may be thousands, of other nodes. */
static bool is_wanted(const struct folder *f, const struct result_parsed *r)
{
	return r->layout == result_layout(f->host->conf) &&
	       (r->kind == RESULT_STACKS) == f->stacks && belongs_to(r->base, f->base) &&
	       (!f->part || r->kind == RESULT_PROFILE || is_of_our_node(f, r->kind, r->who));
}

static void add_file(struct folder *f, const char *entry)
{
	char *name = xstrdup(entry), *path = xasprintf("%s/%s", f->host->output_directory, entry);
	const unsigned number = cut_number(name);
	struct result_parsed r;
	struct stat st;

	/* what is no file was put there by somebody else */
	if (!result_parse(name, &r) || !is_wanted(f, &r) || lstat(path, &st) ||
		!S_ISREG(st.st_mode)) {
		result_parsed_free(&r);
		free(name);
		free(path);
		return;
	}
	*APPEND(f->files, f->n, f->cap) =
		(struct kept){name, r.base, r.who, r.kind, number, run_in(r.kind, path), false};
	free(path);
}

/* who: NULL for any. */
static uint64_t key_of(const struct kept *k, enum result_kind kind, const char *who)
{
	char *text =
		xasprintf("%u %u %d %s/%s", kind, k->number, who != NULL, k->base, who ? who : "");
	const uint64_t key = stack_hash(text, strlen(text));

	free(text);
	return key;
}

/* Finds files that tell their run by kind, number and base, of one node or of any: the first. */
static void index_runs(struct folder *f)
{
	map64_free(&f->runs);
	f->runs = (struct map64){0};
	for (size_t i = 0; i < f->n; i++) {
		const struct kept *k = &f->files[i];
		const uint64_t keys[] = {
			key_of(k, k->kind, NULL), key_of(k, k->kind, k->who ? k->who : "")};

		for (size_t j = 0; j < ARRAY_SIZE(keys) && k->run; j++)
			if (!map64_find(&f->runs, keys[j]))
				map64_add(&f->runs, keys[j], (uint32_t)i);
	}
}

/* The run of the first file of that kind with the same number; who: NULL for any. */
static uint64_t run_of_kind(
	const struct folder *f, const struct kept *log, enum result_kind kind, const char *who)
{
	const uint32_t *at = map64_find(&f->runs, key_of(log, kind, who));
	const struct kept *k = at ? &f->files[*at] : NULL;

	if (!k || k->kind != kind || k->number != log->number || strcmp(k->base, log->base) ||
		(who && strcmp(k->who, who)))
		return 0;
	return k->run;
}

/* What tells the run of a log is beside it: of the same node, or of the whole job. */
static uint64_t run_beside(const struct folder *f, const struct kept *log)
{
	const bool of_node = log->kind == RESULT_NODE_LOG || log->kind == RESULT_SAMPLES;
	uint64_t run = 0;

	if (of_node)
		run = run_of_kind(f, log, RESULT_NODE_PROFILE, log->who);
	if (!run && log->kind != RESULT_SAMPLES)
		run = run_of_kind(f, log, RESULT_PROFILE, NULL);
	if (!run && !of_node)
		run = run_of_kind(f, log, RESULT_NODE_PROFILE, NULL);
	return run;
}

/* type: struct statfs::f_type. What is not known may be remote. */
static double coarse_s_of(unsigned long type)
{
	static const unsigned long local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC, RAMFS_MAGIC, OVERLAYFS_SUPER_MAGIC, F2FS_SUPER_MAGIC,
		0x2fc12fc1 /* ZFS */};

	for (size_t i = 0; i < ARRAY_SIZE(local); i++)
		if (type == local[i])
			return COARSE_S;
	return REMOTE_S;
}

static bool is_older(const struct folder *f, const struct kept *k)
{
	char *path = xasprintf("%s/%s", f->host->output_directory, k->name);
	struct stat st;
	bool older = false;

	if (!lstat(path, &st)) {
		const struct timespec t = st.st_mtim;

		older = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec <
			f->host->start_exact_s - f->coarse_s;
	}
	free(path);
	return older;
}

/*
 * A file of another node is left alone while its run may be this one: its agent may not know yet
 * what number that has. So is a sampling file that is being written, except in our own place.
 */
static bool is_ours(const struct folder *f, const struct kept *k)
{
	const char *host = f->host->name ? f->host->name : "";
	const bool of_node = k->who && k->kind != RESULT_RANK_LOG;
	const uint64_t run = f->host->run;
	uint64_t beside;

	if (k->run && k->run == run)
		return true;
	if (is_older(f, k))
		return false;
	beside = run_beside(f, k);
	if (of_node && !result_is_of(k->who, host))
		return true;
	if (k->kind == RESULT_SAMPLES)
		return !f->at_start && (!k->run || beside != k->run);
	return k->run ? false : !beside || beside == run;
}

static void settle_owners(struct folder *f)
{
	index_runs(f);
	for (size_t i = 0; i < f->n; i++)
		f->files[i].ours = is_ours(f, &f->files[i]);
	for (size_t i = 0; i < f->n; i++) {
		struct kept *k = &f->files[i];
		const uint64_t beside = k->run || k->ours ? 0 : run_beside(f, k);

		if (beside && beside != f->host->run) /* our profile may be there already */
			k->run = beside;
	}
}

static void read_folder(struct folder *f)
{
	DIR *d = opendir(f->host->output_directory);
	struct statfs system;
	struct dirent *e;

	f->coarse_s = d && !fstatfs(dirfd(d), &system) ? coarse_s_of((unsigned long)system.f_type)
						       : REMOTE_S;
	while (d && (e = readdir(d)))
		add_file(f, e->d_name);
	if (d)
		closedir(d);
	settle_owners(f);
}

static void free_folder(struct folder *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->files[i].name);
		free(f->files[i].base);
		free(f->files[i].who);
	}
	free(f->files);
	f->files = NULL;
	f->n = f->cap = 0;
	map64_free(&f->runs);
}

/* ---- what becomes of it ------------------------------------------------------------ */

/* What this run has been given before, where an agent of it was faster; else one that is free. */
static unsigned number_for(const struct folder *f, uint64_t run)
{
	unsigned most = 0;

	EACH(const struct kept, k, f->files, f->n) {
		if (k->number && run && k->run == run)
			return k->number;
		most = MAX(most, k->number);
	}
	return most < OLD_MOST ? most + 1 : OLD_MOST;
}

/* What is in the place of a file to be kept is of the same run, and may be replaced. */
static bool is_same_run(const struct folder *f, const struct kept *k, unsigned number)
{
	EACH(const struct kept, there, f->files, f->n)
		if (there->number == number && !strcmp(there->name, k->name))
			return there->run && there->run == k->run;
	return false;
}

/* Returns the number it got, which is another where a file of another run has that one. */
static unsigned move_file(const struct folder *f, const struct kept *k, unsigned number)
{
	struct kept moved = {.name = k->name, .number = number};
	char *from = xasprintf("%s/%s", f->host->output_directory, k->name), *old, *to;
	int rc;

	for (;; moved.number++) {
		old = name_of(&moved);
		to = xasprintf("%s/%s", f->host->output_directory, old);
		rc = renameat2(AT_FDCWD, from, AT_FDCWD, to,
			is_same_run(f, k, moved.number) ? 0 : RENAME_NOREPLACE);
		if (rc && errno != EEXIST && errno != ENOENT && access(to, F_OK))
			rc = rename(from, to); /* a file system without that */
		if (!rc || errno != EEXIST || moved.number >= OLD_MOST)
			break;
		free(old);
		free(to);
	}
	if (rc && errno != ENOENT) /* another agent was faster */
		complain("cannot keep %s of another run as %s: %s", from, old, strerror(errno));
	free(from);
	free(to);
	free(old);
	return moved.number;
}

static bool is_to_be_moved(const struct folder *f, const struct kept *k)
{
	return !k->number && !k->ours && is_ours_to_move(f, k);
}

/* All that a run has left. */
static void move_run(struct folder *f, uint64_t run)
{
	unsigned number = number_for(f, run);

	for (size_t i = 0; i < f->n; i++) {
		struct kept *k = &f->files[i];

		if (k->run != run || !is_to_be_moved(f, k))
			continue;
		number = k->number = move_file(f, k, number);
	}
}

static bool is_of_this_run(const struct folder *f, const struct kept *k)
{
	return f->host->run && (k->run ? k->run : run_beside(f, k)) == f->host->run;
}

static void take_back_file(const struct folder *f, struct kept *k)
{
	char *old = name_of(k), *from = xasprintf("%s/%s", f->host->output_directory, old);
	char *to = xasprintf("%s/%s", f->host->output_directory, k->name);

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) && access(to, F_OK))
		(void)!rename(from, to); /* a file system without that; or it was taken meanwhile */
	free(old);
	free(from);
	free(to);
}

/*
 * What this run has written already, and another run that writes at the same time has put aside:
 * so all files of a run stay together, and those written on the way are replaced.
 */
static void take_back(struct folder *f)
{
	index_runs(f); /* numbers have changed */
	for (size_t i = 0; i < f->n; i++) {
		struct kept *k = &f->files[i];

		k->ours = k->number && is_of_this_run(f, k) && is_ours_to_move(f, k);
	}
	for (size_t i = 0; i < f->n; i++)
		if (f->files[i].ours && f->files[i].number)
			take_back_file(f, &f->files[i]);
}

/*
 * Some hundred agents of a run, each with files of its own in the folder, do this one after the
 * other: those that find nothing to be moved do not look at the files of all others. The number
 * that an older run gets is told by all its files.
 */
static void keep_older(struct host *host, const char *base, bool at_start)
{
	struct folder f = {
		.host = host, .base = base, .at_start = at_start, .part = !moves_all(host)};

	read_folder(&f);
	if (f.part && ANY(i, f.n, is_to_be_moved(&f, &f.files[i]))) {
		free_folder(&f);
		f.part = false;
		read_folder(&f);
	}
	for (size_t i = 0; i < f.n; i++)
		if (is_to_be_moved(&f, &f.files[i]))
			move_run(&f, f.files[i].run);
	take_back(&f);
	free_folder(&f);
}

/* Of an agent that had ended before this one began. */
static bool is_of_before(const struct folder *f, const struct kept *k)
{
	return !k->number && !strcmp(k->who, f->host->name) && is_older(f, k);
}

static int lock_for(struct host *host)
{
	return folder_lock(host->output_directory, host->transport && host->transport->size > 1);
}

void older_results_of_stacks(struct host *host)
{
	struct folder f = {.host = host, .base = "", .stacks = true};
	const int lock = host->results_lock < 0 ? lock_for(host) : -1;

	read_folder(&f);
	for (size_t i = 0; i < f.n; i++)
		if (is_of_before(&f, &f.files[i]))
			move_file(&f, &f.files[i], number_for(&f, 0));
	free_folder(&f);
	if (lock >= 0)
		close(lock);
}

/* ---- from the begin of writing to its end ------------------------------------------ */

static int begin_writing(struct host *host, const char *base, bool at_start)
{
	int lock = -1;

	if (host->results_lock < 0)
		lock = host->results_lock = lock_for(host);
	keep_older(host, base, at_start);
	return lock;
}

int older_results_begin(struct agent *a, const char *base)
{
	return begin_writing(&a->host, base, false);
}

int older_results_of_samples(struct host *host, const char *base)
{
	return begin_writing(host, base, true);
}

void older_results_end(struct host *host, int *lock)
{
	if (*lock < 0)
		return;
	close(*lock);
	*lock = host->results_lock = -1;
}
