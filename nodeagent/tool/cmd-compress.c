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
#include "nodeagent/trace/repack.h"
#include "nodeagent/trace/run.h"

#define LEVEL_USUAL 9
#define LEVEL_MOST  19
#define BAR	    40

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
	"Exit status: 0 done, 1 a file was left as it is, 2 wrong usage.\n";

struct compressing {
	struct vfd_repack repack;
	const char *file; /* that is packed now */
	bool quiet, failed;
	size_t n_seen, n; /* sampling files, and those that are done */
	int shown;	  /* parts of the bar */
	uint64_t before, after;
};

static void draw_bar(void *ctx, double part)
{
	struct compressing *c = ctx;
	const int parts = (int)(part * BAR);
	char bar[BAR + 1];

	if (c->quiet || parts == c->shown || !isatty(STDERR_FILENO))
		return;
	c->shown = parts;
	for (int i = 0; i < BAR; i++)
		bar[i] = i < parts ? '#' : '.';
	bar[BAR] = '\0';
	fprintf(stderr, "\r%.40s [%s] %3.0f %%", c->file, bar, part * 100);
}

static void clear_bar(struct compressing *c)
{
	if (c->shown)
		fputs("\r\033[K", stderr);
	c->shown = 0;
}

/* Permissions and times stay those of the old file: it says when the run was. */
static void keep_facts(int to, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};

	if (fchmod(to, st->st_mode & 07777) || futimens(to, times))
		return; /* another owner's: not what this is about */
}

static char *replace_file(struct compressing *c, const char *path)
{
	const int from = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct writing *w;
	struct stat st;
	char *error;
	FILE *to;
	int rc;

	if (from < 0)
		return xstrdup(strerror(errno));
	if (fstat(from, &st) || !S_ISREG(st.st_mode)) {
		close(from);
		return xstrdup("not a regular file");
	}
	rc = write_begin(&to, &w, path);
	if (rc) {
		close(from);
		return xasprintf("can't be written: %s", strerror(-rc));
	}
	write_durable(w);
	error = vfd_repack(from, to, &c->repack);
	close(from);
	if (error) {
		write_abort(to, w);
		return error;
	}
	fflush(to);
	keep_facts(fileno(to), &st);
	rc = write_end(to, w);
	return rc ? xasprintf("can't be written: %s", strerror(-rc)) : NULL;
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
	c->file = basename(path);
	error = replace_file(c, path);
	clear_bar(c);
	if (error) {
		complain("%s: left as it is: %s", path, error);
		c->failed = true;
		free(error);
		return;
	}
	c->n++;
	c->before += c->repack.before;
	c->after += c->repack.after;
	if (!c->quiet)
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
	struct compressing c = {.repack = {.level = LEVEL_USUAL, .progress = draw_bar}};
	bool unpack = false;
	const struct cmd_option options[] = {
		{"level", 'l', .take = take_level, .to = &c.repack.level},
		{"decompress", 'd', .flag = &unpack},
		{"unfinished", 'u', .flag = &c.repack.unfinished},
		{"quiet", 'q', .flag = &c.quiet},
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
	c.repack.ctx = &c;
	if (unpack)
		c.repack.level = 0;
	for (int i = optind; i < argc; i++)
		if (!stat(argv[i], &st) && S_ISDIR(st.st_mode))
			compress_folder(&c, argv[i]);
		else
			compress_file(&c, argv[i]);
	if (!c.quiet && c.n > 1)
		say_change("all", c.before, c.after);
	return c.failed;
}
