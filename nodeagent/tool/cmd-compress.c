/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr compress': makes sampling files small, which all other commands read as before. */
#include "nodeagent/tool/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/base/units.h"
#include "nodeagent/tool/show/progress-bar.h"
#include "nodeagent/trace/repack.h"
#include "nodeagent/trace/run.h"

#define LEVEL_USUAL 9
#define LEVEL_MOST  19

static const char usage[] =
	"usage: vftr compress [OPTION...] RUN|FILE.vfd...\n"
	"\n"
	"Packs sampling files, or all in a folder, with zstd. They keep their names, and every\n"
	"command reads them as before.\n"
	"\n"
	"  -l, --level N      1 (fast) to 19 (small); default: 9\n"
	"  -d, --decompress   write the files as they were before\n"
	"  -u, --unfinished   also files without an end, of agents that were killed; never one\n"
	"                     that is still being written\n"
	"  -q, --quiet        print nothing but what is wrong\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 a file could not be packed, 2 wrong usage.\n";

struct compressing {
	struct vfd_repack repack;
	struct progress_bar bar; /* of the file that is packed now */
	bool failed;
	size_t n_seen, n; /* sampling files, and those that are done */
	uint64_t before, after;
};

/* Owner, permissions and times stay those of the old file: it says when the run was. */
static char *keep_facts(int to, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};
	struct stat now;

	if (fchown(to, st->st_uid, st->st_gid) && (fstat(to, &now) || now.st_uid != st->st_uid))
		return xstrdup("it is another user's");
	if (fchmod(to, st->st_mode & 07777) || futimens(to, times))
		return xasprintf("its permissions and time can't be kept: %s", strerror(errno));
	return NULL;
}

/* True if nothing is won. */
static bool is_useless(const struct compressing *c)
{
	return c->repack.level && c->repack.after >= c->repack.before;
}

/* Into the place of the open file; the error is a sentence. */
static char *write_anew(struct compressing *c, const char *path, int from, const struct stat *st)
{
	struct writing *w;
	char *error;
	FILE *to;
	int rc = write_begin(&to, &w, path);

	if (rc)
		return xasprintf("can't be written: %s", strerror(-rc));
	write_durable(w);
	error = vfd_repack(from, to, &c->repack);
	if (!error && !is_useless(c)) {
		fflush(to);
		error = keep_facts(fileno(to), st);
	}
	if (error || is_useless(c)) {
		write_abort(to, w);
		return error;
	}
	rc = write_end(to, w);
	return rc ? xasprintf("can't be written: %s", strerror(-rc)) : NULL;
}

/* A link stays one: this is what it leads to. The caller frees; NULL: errno. */
static char *file_behind(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode) ? realpath(path, NULL) : xstrdup(path);
}

static char *replace_file(struct compressing *c, const char *path)
{
	char *real = file_behind(path), *error;
	const int from = real ? open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	struct stat st;

	if (from < 0)
		error = xstrdup(strerror(errno));
	else if (fstat(from, &st) || !S_ISREG(st.st_mode))
		error = xstrdup("not a regular file");
	else
		error = write_anew(c, real, from, &st);
	if (from >= 0)
		close(from);
	free(real);
	return error;
}

static void say_change(const char *what, uint64_t before, uint64_t after)
{
	printf("%s: %s, was %s\n", what, quantity_bytes((double)after).text,
		quantity_bytes((double)before).text);
}

static void compress_file(void *ctx, const char *path)
{
	struct compressing *c = ctx;
	char *error;

	c->n_seen++;
	c->bar.name = basename(path);
	error = replace_file(c, path);
	progress_bar_clear(&c->bar);
	if (error) {
		complain("%s: left as it is: %s", path, error);
		c->failed = true;
		free(error);
		return;
	}
	c->n++;
	c->before += c->repack.before;
	c->after += is_useless(c) ? c->repack.before : c->repack.after;
	if (!c->bar.quiet && is_useless(c))
		printf("%s: left as it is: %s, would become %s\n", path,
			quantity_bytes((double)c->repack.before).text,
			quantity_bytes((double)c->repack.after).text);
	else if (!c->bar.quiet)
		say_change(path, c->repack.before, c->repack.after);
}

static void compress_folder(struct compressing *c, const char *path)
{
	const size_t n_before = c->n_seen;

	if (!vfd_files_in(path, compress_file, c))
		complain("%s: can't be read: %s", path, strerror(errno));
	else if (c->n_seen == n_before)
		complain("%s: there are no sampling files in it", path);
	c->failed |= c->n_seen == n_before;
}

static bool take_level(const char *text, void *to)
{
	char *end;
	const long level = strtol(text, &end, 10);

	if (*text && !*end && level >= 1 && level <= LEVEL_MOST) {
		*(int *)to = (int)level;
		return true;
	}
	complain("compress: --level %s: it is a number from 1 to %d", text, LEVEL_MOST);
	return false;
}

int cmd_compress(int argc, char **argv)
{
	struct compressing c = {.repack = {.level = LEVEL_USUAL, .progress = progress_bar_draw}};
	bool unpack = false;
	const struct cmd_option options[] = {
		{"level", 'l', .take = take_level, .to = &c.repack.level},
		{"decompress", 'd', .flag = &unpack},
		{"unfinished", 'u', .flag = &c.repack.unfinished},
		{"quiet", 'q', .flag = &c.bar.quiet},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);
	struct stat st;

	if (status >= 0)
		return status;
	if (optind == argc) {
		complain("compress: name the folder of a run, or sampling files");
		return 2;
	}
	c.repack.ctx = &c.bar;
	if (unpack)
		c.repack.level = 0;
	for (int i = optind; i < argc; i++)
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			compress_folder(&c, argv[i]);
		else
			compress_file(&c, argv[i]);
	if (!c.bar.quiet && c.n > 1)
		say_change("all", c.before, c.after);
	return c.failed;
}
