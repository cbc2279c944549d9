/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of formats, and one export from the first event to the file's name. */
#include "nodeagent/export/internal.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"

#define DAMAGES_SHOWN 8u

const struct export_format export_formats[] = {
	{"perfetto", ".perfetto-trace", "Perfetto (ui.perfetto.dev): tracks, arrows for messages",
		false, false, 1, perfetto_begin, perfetto_event, perfetto_end, NULL, true},
	{"chrome", ".trace.json", "trace events of Chrome, JSON", false, false, 1, chrome_begin,
		chrome_event, chrome_end, NULL},
	{"otf2", ".otf2", "folder with an OTF2 archive named traces: Vampir, Scalasca, Pipit", true,
		false, 1, otf2_begin, otf2_event, otf2_end, NULL},
	{"paraver", ".prv", "Paraver; .pcf and .row beside it", false, false, 2, paraver_begin,
		paraver_event, paraver_end, NULL},
	{"folded", ".folded", "stacks with their exclusive time in ns, for flame graphs", false,
		false, 1, folded_begin, folded_event, folded_end, NULL},
	{"speedscope", ".speedscope.json", "speedscope (speedscope.app): a time line per thread",
		false, true, 1, speedscope_begin, speedscope_event, speedscope_end, NULL},
	{"vfd3", ".vfd3", "folder with Vftrace's own files, BASE_RANK.vfd of version 3", true,
		false, 0, classic_begin, NULL, classic_end, NULL},
	{"sqlite", ".sqlite", "of a profile (BASE_all.json or BASE_HOST.vfp): tables for SQL",
		.convert = sqlite_convert},
};
const size_t export_n_formats = ARRAY_SIZE(export_formats);

void export_fail(struct exporter *x, const char *fmt, ...)
{
	va_list args;

	if (x->error)
		return;
	va_start(args, fmt);
	if (vasprintf(&x->error, fmt, args) < 0)
		x->error = NULL;
	va_end(args);
	if (!x->error)
		die(125, "out of memory");
}

/* ---- the output ---------------------------------------------------------------------- */

struct output {
	const char *path;
	char *tmp; /* folder */
	struct writing *writing;
	bool folder, standard, binary;
};

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	return remove(path);
}

static void remove_folder(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A folder of our own until it is complete. An existing one is never overwritten: its files may
 * be the user's. */
static void open_folder(struct exporter *x, struct output *o)
{
	char *suffix = write_suffix();

	o->tmp = xasprintf("%s%s", o->path, suffix);
	free(suffix);
	if (rmdir(o->path) && errno != ENOENT)
		export_fail(x, "%s: %s; remove it, or choose another folder with -o", o->path,
			errno == ENOTEMPTY || errno == EEXIST ? "is there and not empty"
							      : strerror(errno));
	else if (mkdir(o->tmp, 0700))
		export_fail(x, "%s: the folder can't be made: %s", o->tmp, strerror(errno));
	x->path = o->tmp;
}

static void open_output(struct exporter *x, struct output *o)
{
	int error;

	if (x->options->into) {
		x->out = x->options->into;
		return;
	}
	o->standard = !strcmp(o->path, "-");
	if (o->folder && o->standard) {
		export_fail(x, "a folder can't be written to the standard output: name one with "
			       "--output");
	} else if (o->folder) {
		open_folder(x, o);
	} else if (o->standard) {
		x->out = o->binary ? fdopen(dup(STDOUT_FILENO), "w") : stdout;
		if (!x->out)
			export_fail(x, "the standard output can't be written");
	} else {
		error = write_begin(&x->out, &o->writing, o->path);
		if (error)
			export_fail(x, "%s: can't be written: %s", o->path, strerror(-error));
	}
}

static void close_file(struct exporter *x, struct output *o)
{
	int error;

	if (o->standard && x->out) {
		const bool failed = fflush(x->out) || ferror(x->out);

		if (failed || (o->binary && fclose(x->out)))
			export_fail(x, "the standard output can't be written");
	} else if (!x->error) {
		error = write_end(x->out, o->writing);
		if (error)
			export_fail(x, "%s: can't be written: %s", o->path, strerror(-error));
	} else if (x->out) {
		write_abort(x->out, o->writing);
	}
}

static void close_output(struct exporter *x, struct output *o)
{
	mode_t mask;

	if (x->options->into) {
		if (fflush(x->out) || ferror(x->out))
			export_fail(x, "the output can't be written");
		return;
	}
	if (!o->tmp) {
		close_file(x, o);
		return;
	}
	mask = umask(077);
	umask(mask);
	if (!x->error && (chmod(o->tmp, 0777 & ~mask) || rename(o->tmp, o->path)))
		export_fail(x, "%s: can't be made: %s", o->path, strerror(errno));
	if (x->error)
		remove_folder(o->tmp);
	free(o->tmp);
}

/* ---- the run ------------------------------------------------------------------------- */

struct run {
	struct exporter *x;
	const struct export_format *format;
	void *state;
};

static void give_event_to_format(void *ctx, const struct export_event *e)
{
	struct run *r = ctx;

	r->format->event(r->state, e);
}

static void give_all(struct run *r)
{
	struct exporter *x = r->x;

	if (!r->format->event)
		return;
	if (!r->format->by_thread) {
		export_walk(x, &(struct export_walk){.thread = NULL}, give_event_to_format, r);
		return;
	}
	for (size_t i = 0; !x->error && !x->full && i < x->n_threads; i++)
		export_walk(x, &(struct export_walk){.thread = &x->threads[i]},
			give_event_to_format, r);
}

static void walk_and_write(struct exporter *x, const struct export_format *format, struct output *o)
{
	struct run r = {x, format, NULL};

	open_output(x, o);
	if (!x->error)
		r.state = format->begin(x);
	if (!x->error && r.state)
		give_all(&r);
	if (r.state)
		format->end(r.state, !x->error);
	if (x->shown > 0)
		fprintf(stderr, "\r\033[K");
	/* a full disk shows itself to the format as an output that can't be written */
	if (x->out && x->error && ferror(x->out) && !o->standard) {
		free(x->error);
		x->error = NULL;
	}
	close_output(x, o);
}

static bool tell_damage(struct vfd_file **files, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		size_t n_damage;
		const struct vfd_damage *d = vfd_damage(files[i], &n_damage);
		const char *path = vfd_facts(files[i])->path;

		for (size_t k = 0; k < n_damage && k < DAMAGES_SHOWN; k++)
			complain("%s: bytes %llu to %llu are left out: %s", path,
				(unsigned long long)d[k].from, (unsigned long long)d[k].to,
				d[k].why);
		if (n_damage > DAMAGES_SHOWN)
			complain(
				"%s: %zu more places are left out", path, n_damage - DAMAGES_SHOWN);
		any |= n_damage > 0;
		if (vfd_facts(files[i])->unknown_blocks)
			complain("%s: %llu blocks of kinds that this vftr does not know are left "
				 "out",
				path, (unsigned long long)vfd_facts(files[i])->unknown_blocks);
	}
	return any;
}

/* Of the calls that an interval leaves out, some are shown, with the time of all. */
static void tell_interval(struct vfd_file **files, size_t n)
{
	int64_t longest = 0;

	for (size_t i = 0; i < n; i++)
		longest = MAX(longest, vfd_facts(files[i])->interval_ns);
	if (longest)
		complain("sampled every %g ms: of shorter calls only a random selection is shown, "
			 "which stands for the time of all",
			(double)longest / 1e6);
}

/* Of those that --time-filter left out, or the size of the files. */
static void tell_left_out(struct vfd_file **files, size_t n)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < n; i++)
		calls += vfd_facts(files[i])->thinned_calls;
	if (calls)
		complain("%llu %s not in the time line: too short for --time-filter, or for the "
			 "size of the file; the profile has all",
			(unsigned long long)calls, one_or_many(calls, "call is", "calls are"));
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

struct actions {
	struct sigaction of[ARRAY_SIZE(ending_signals)];
};

static void catch_signals(struct actions *before)
{
	struct sigaction action = {.sa_handler = export_stop, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		if (!sigaction(ending_signals[i], &action, &before->of[i]) &&
			before->of[i].sa_handler == SIG_IGN)
			sigaction(ending_signals[i], &before->of[i], NULL);
}

/* What came meanwhile has its effect now. */
static void leave_signals(const struct actions *before)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending_signals); i++)
		sigaction(ending_signals[i], &before->of[i], NULL);
	if (export_stopped())
		raise(export_stopped());
}

ORDER_BY(by_number, int32_t, ORDER(*x, *y))

/* "0-3,5": the ranks that all files have, each once; the caller frees. */
static char *known_ranks(const struct exporter *x)
{
	int32_t *all = NULL;
	size_t n = 0, cap = 0, n_processes;
	char *text = xstrdup("");

	for (size_t i = 0; i < x->n_files; i++) {
		vfd_processes(x->files[i], &n_processes);
		for (size_t k = 0; k < n_processes; k++)
			if (vfd_rank_number(x->files[i], (uint32_t)k) >= 0)
				*APPEND(all, n, cap) = vfd_rank_number(x->files[i], (uint32_t)k);
	}
	if (n)
		qsort(all, n, sizeof(*all), by_number);
	for (size_t i = 0, last; i < n; i = last + 1) {
		for (last = i; last + 1 < n && all[last + 1] <= all[last] + 1;)
			last++;
		text = xappend(text, "%s%d", i ? "," : "", all[i]);
		if (all[last] > all[i])
			text = xappend(text, "-%d", all[last]);
	}
	free(all);
	return text;
}

static void fail_empty(struct exporter *x)
{
	char *ranks;

	if (!x->options->ranks) {
		export_fail(x, "there are no threads in these files");
		return;
	}
	ranks = known_ranks(x);
	export_fail(x, "there are no threads of ranks %s in these files, which have %s%s",
		x->options->ranks, *ranks ? "ranks " : "no ranks", ranks);
	free(ranks);
}

int export_run(const struct export_format *format, const struct export_options *o,
	struct vfd_file **files, size_t n, const char *base)
{
	struct exporter x = {.options = o, .files = files, .n_files = n, .base = base};
	struct output output = {
		.path = o->output, .folder = format->folder, .binary = format->binary};
	bool damaged = !o->damage_told && tell_damage(files, n);
	int status = damaged;
	struct actions before;

	catch_signals(&before);
	export_model_new(&x);
	x.shown = isatty(STDERR_FILENO) ? 0 : -1;
	x.steps = format->by_thread ? (unsigned)x.n_threads : format->walks;
	if (!x.n_threads)
		fail_empty(&x);
	else
		walk_and_write(&x, format, &output);
	if (x.error) {
		complain("%s", x.error);
		status = 2;
	}
	if (!x.error && !o->quiet)
		tell_interval(files, n);
	if (!x.error && !o->quiet)
		tell_left_out(files, n);
	if (o->n_left_out)
		*o->n_left_out = x.n_left_out;
	free(x.error);
	export_model_free(&x);
	leave_signals(&before);
	return status;
}

int export_convert(
	const struct export_format *format, FILE *json, const char *from, const char *output)
{
	struct actions before;
	char *error;

	catch_signals(&before);
	error = format->convert(json, from, output);
	if (error)
		complain("%s", error);
	leave_signals(&before);
	if (!error)
		return 0;
	free(error);
	return 2;
}
