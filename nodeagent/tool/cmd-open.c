/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr open`: a time line in Perfetto's page or in the user's own viewer, by one command. */
#include "nodeagent/tool/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/tool/export-profile.h"
#include "nodeagent/tool/open/serve.h"
#include "nodeagent/tool/open/viewer.h"
#include "nodeagent/tool/show/run.h"

#define PORT   9001u /* the one that Perfetto's page may ask on this machine */
#define ORIGIN "https://ui.perfetto.dev"

static const char usage[] =
	"usage: vftr open [OPTIONS] RUN|FILE\n"
	"\n"
	"Opens the time line of a run in Perfetto's page, https://ui.perfetto.dev. The page\n"
	"fetches it from this machine, and nothing is uploaded. RUN is a folder with sampling\n"
	"files, FILE one of these or a file that Perfetto reads.\n"
	"\n"
	"  -n, --no-browser   only print the page's address\n"
	"  -v, --viewer CMD   start this program, with options, in place of the page;\n"
	"                     default: $VFTR_VIEWER, else the key open.viewer, else the page\n"
	"  -f, --format F     turn a run into this format of vftr export for the viewer;\n"
	"                     default: what the program is known to open, else perfetto\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"It ends when the page has fetched the file, or the viewer has ended.\n"
	"\n"
	"Exit status: 0 done, 1 done without what was damaged, or the viewer failed, 2 nothing\n"
	"could be served or started, or wrong usage.\n";

static void stop(int number)
{
	(void)number;
	serve_stop();
}

static bool is_run(const char *path)
{
	const char *end = strrchr(path, '.');
	struct stat st;

	return (!stat(path, &st) && S_ISDIR(st.st_mode)) || (end && !strcmp(end, ".vfd"));
}

/* False after a message: a run without sampling files, of which two formats show the profile. */
static bool has_time_line(char *run, const char *format)
{
	if (!strcmp(format, "folded") || !strcmp(format, "speedscope") ||
		!export_is_profile(&run, 1))
		return true;
	complain("open: %s has no time line: record one with vftr run --trace", run);
	return false;
}

/* Makes a trace of a run, at *file, without a name: it is gone when we end. As exit status; 2:
 * said why. */
static int export_run(char *run, const char *base, int *file)
{
	const char *folder = getenv("TMPDIR");
	char *path = xasprintf("%s/vftr-open.XXXXXX", folder && *folder ? folder : "/tmp");
	char *args[] = {
		"export", "-q", "-f", "perfetto", "-o", path, run, "-b", (char *)base, NULL};
	int fd = mkstemp(path), status;

	if (fd < 0) {
		complain("open: %s: %s", path, strerror(errno));
		free(path);
		return 2;
	}
	close(fd);
	status = cmd_export(base ? 9 : 7, args);
	*file = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	free(path);
	return status;
}

/* A program of the desktop, which does not hold us up. */
static void start_browser(const char *address)
{
	const pid_t child = fork();

	if (!child) {
		if (!fork()) {
			int null = open("/dev/null", O_RDWR | O_CLOEXEC);

			if (null >= 0)
				for (int fd = 0; fd < 3; fd++)
					dup2(null, fd);
			execlp("xdg-open", "xdg-open", address, (char *)NULL);
		}
		_exit(0);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
}

static bool has_desktop(void)
{
	return getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
}

/* 0, or 2: said why. */
static int serve_file(int file, const char *name, bool browser)
{
	const struct sigaction on_stop = {.sa_handler = stop};
	uint64_t random = 0;
	char *path, *address;
	struct served s = {.file = file, .origin = ORIGIN};
	struct stat st;
	int fd, error;

	if (fstat(file, &st) || !S_ISREG(st.st_mode)) {
		complain("open: %s is no file", name);
		return 2;
	}
	fd = serve_listen(PORT);
	if (fd < 0) {
		complain("open: port %u of 127.0.0.1, where Perfetto's page asks: %s", PORT,
			strerror(-fd));
		return 2;
	}
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		die(2, "no random number for the file's path");
	path = xasprintf("/vftr-%016llx.pftrace", (unsigned long long)random);
	address = xasprintf(ORIGIN "/#!/?url=http://127.0.0.1:%u%s", PORT, path);
	s.path = path;
	s.bytes = (uint64_t)st.st_size;
	printf("%s\n", address);
	fflush(stdout);
	sigaction(SIGINT, &on_stop, NULL);
	sigaction(SIGTERM, &on_stop, NULL);
	if (browser && has_desktop())
		start_browser(address);
	error = serve_once(fd, &s);
	if (error)
		complain("open: the page did not fetch it: %s",
			error == -EINTR ? "stopped by a signal" : strerror(-error));
	close(fd);
	free(path);
	free(address);
	return error ? 2 : 0;
}

static int serve_one(char *what, const char *base, bool browser)
{
	int file = -1, status = 0, served;

	if (is_run(what))
		status = has_time_line(what, "perfetto") ? export_run(what, base, &file) : 2;
	else
		file = open(what, O_RDONLY | O_CLOEXEC);
	if (status == 2 || file < 0) {
		if (status != 2)
			complain("open: %s: %s", what, strerror(errno));
		return 2;
	}
	served = serve_file(file, what, browser);
	close(file);
	return served ? served : status;
}

/* ---- a viewer -------------------------------------------------------------------------- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

/* What a viewer opens of a format that is a folder. Frees path. */
static char *file_to_view(char *path)
{
	char *anchor = xasprintf("%s/traces.otf2", path);
	char *const file = access(anchor, R_OK) ? path : anchor;

	free(file == path ? anchor : path);
	return file;
}

/* In a folder of our own, which is gone when the viewer ends. */
static int view_run(char *run, const char *base, const char *format, const char *viewer)
{
	const char *tmp = getenv("TMPDIR");
	char *folder = xasprintf("%s/vftr-open.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	char *path = NULL;
	int status = 2, seen;

	if (!mkdtemp(folder)) {
		complain("open: %s: %s", folder, strerror(errno));
	} else {
		char *args[] = {"export", "-q", "-f", (char *)format, "-o", NULL, run, "-b",
			(char *)base, NULL};

		path = xasprintf("%s/run.%s", folder, format);
		args[5] = path;
		status = cmd_export(base ? 9 : 7, args);
		if (status != 2) {
			path = file_to_view(path);
			seen = viewer_run(viewer, path);
			status = seen ? seen : status;
		}
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	}
	free(folder);
	free(path);
	return status;
}

static int view_one(char *what, const char *base, const char *format, const char *viewer)
{
	if (is_run(what)) {
		format = format ? format : viewer_format(viewer);
		return has_time_line(what, format) ? view_run(what, base, format, viewer) : 2;
	}
	if (!access(what, R_OK))
		return viewer_run(viewer, what);
	complain("open: %s: %s", what, strerror(errno));
	return 2;
}

/* The key open.viewer, or NULL; the caller frees. *failed: there is no configuration; has told why.
 */
static char *configured_viewer(bool *failed)
{
	struct conf *c = run_user_conf();
	char *viewer = c && c->open_viewer ? xstrdup(c->open_viewer) : NULL;

	*failed = !c;
	conf_free(c);
	return viewer;
}

int cmd_open(int argc, char **argv)
{
	bool alone = false;
	const char *base = NULL, *format = NULL, *viewer = getenv("VFTR_VIEWER");
	const struct cmd_option options[] = {
		{"no-browser", 'n', .flag = &alone},
		{"viewer", 'v', .text = &viewer},
		{"format", 'f', .text = &format},
		{"base", 'b', .text = &base},
		{0},
	};
	const int status = cmd_options(argc, argv, options, usage);
	char *configured = NULL;
	bool failed = false;
	int seen = -1;

	if (status >= 0)
		return status;
	if (optind + 1 != argc) {
		complain("open: name one folder or file; see vftr open --help");
		return 2;
	}
	if (!alone && !viewer)
		viewer = configured = configured_viewer(&failed);
	if (failed)
		return 2;
	if (viewer && *viewer && !alone)
		seen = view_one(argv[optind], base, format, viewer);
	free(configured);
	if (seen >= 0)
		return seen;
	if (format) {
		complain("open: --format is for a viewer; Perfetto's page opens its own format "
			 "only");
		return 2;
	}
	return serve_one(argv[optind], base, !alone);
}
