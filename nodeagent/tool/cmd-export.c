/* SPDX-License-Identifier: BSD-3-Clause */
/* vftr export DIRECTORY|FILES --format F: sampling files for other viewers, profiles as tables. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/tool/cmd.h"
#include "nodeagent/tool/export-wrote.h"
#include "nodeagent/tool/export-profile.h"
#include "nodeagent/export/export.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/trace/run.h"

static const char usage_head[] =
	"usage: vftr export DIRECTORY --format F [OPTION...]\n"
	"       vftr export FILE... --format F [OPTION...]\n"
	"\n"
	"Turns the sampling files of a run (BASE_HOST.vfd, HOST.vfd) into what another\n"
	"viewer opens; node profiles (BASE_HOST.vfp, HOST.vfp) into flame graphs with the\n"
	"exact times of all call paths (folded, speedscope); and a profile into a\n"
	"database (sqlite). The formats F are:\n"
	"\n";
static const char usage_tail[] =
	"\n"
	"  -f, --format F      make this format\n"
	"  -o, --output OUT    make this file or folder; - is the standard output, for one\n"
	"                      file; default: BASE and the format's ending, in the\n"
	"                      directory of the sampling files\n"
	"  -r, --ranks LIST    only these ranks, such as 0,2-5\n"
	"      --from T        only from then on; T is in seconds since the start of the\n"
	"                      job, or with a unit: 2.5, 300ms, 40us, 7ns, 2min\n"
	"      --to T          only before\n"
	"      --round N       only this round of a session, from 1\n"
	"      --mangled       the linker's names of functions, not short ones\n"
	"      --sum           one flame graph of all processes\n"
	"      --profile       read the node profiles, though there are sampling files, too\n"
	"  -b, --base BASE     only the run of this name\n"
	"  -q, --quiet         do not say what was written\n"
	"  -h, --help          this text\n"
	"\n"
	"Exit status: 0 done, 1 done without what was damaged, 2 nothing was made, or\n"
	"wrong usage.\n";

static void print_usage(void)
{
	fputs(usage_head, stdout);
	for (size_t i = 0; i < export_n_formats; i++)
		printf("  %-11s %s\n", export_formats[i].name, export_formats[i].text);
	fputs(usage_tail, stdout);
}

/* ---- the files ------------------------------------------------------------------------ */

struct inputs {
	struct vfd_file **files;
	size_t n, cap;
	char *base, *directory;		  /* of the first file */
	const char *wanted;		  /* --base, or NULL */
	char *event;			  /* of the first file, as result_event_in() */
	const struct vfd_facts *numbered; /* the first file that says the number of its run */
	bool bad, other;		  /* some could not be read; was of another run or event */
	struct result_seen seen;
};

/* BASE of BASE_HOST.vfd, or the program where a folder has one run. host: NULL if the header is
 * damaged. Caller frees. */
static char *base_of(const char *path, const struct vfd_facts *facts)
{
	const char *name = basename(path);
	const size_t n = strlen(name), suffix = n > 4 && !strcmp(name + n - 4, ".vfd") ? 4 : 0;
	char *end = xasprintf("_%s.vfd", facts->host ? facts->host : "");
	struct result_parsed r;
	char *base;

	if (!result_parse(name, &r))
		base = xasprintf("%.*s", (int)(n - suffix), name);
	else if (facts->host && n > strlen(end) && !strcmp(name + n - strlen(end), end))
		base = xasprintf("%.*s", (int)(n - strlen(end)), name); /* with underscores, too */
	else if (r.layout == LAYOUT_VFTRACE)
		base = xstrdup(r.base);
	else if (facts->host && facts->application && result_is_of(r.who, facts->host))
		base = xasprintf("%s%s", r.base, facts->application);
	else
		base = xasprintf("%.*s", (int)(n - suffix), name);
	result_parsed_free(&r);
	free(end);
	return base;
}

/* By names; by their numbers where names do not tell: as HOST.vfd of two folders. */
static bool is_of_another_run(const struct inputs *in, const struct vfd_facts *f, const char *base)
{
	const struct vfd_facts *first = in->numbered;
	const bool named = in->base && strcmp(base, in->base);
	const bool is =
		named || (first && vfd_runs_differ(first->path, first->run, f->path, f->run));

	if (is && named)
		complain("these are files of several runs, `%s' and `%s': choose one with --base",
			in->base, base);
	else if (is)
		complain("these are files of several runs: %s is of another one than those before; "
			 "name the files of one",
			f->path);
	return is;
}

static void add_file(void *ctx, const char *path)
{
	struct inputs *in = ctx;
	char *error = NULL, *base;
	struct vfd_file *f;

	if (result_is_repeated(&in->seen, path))
		return;
	f = vfd_open(path, &error);
	if (!f) {
		complain("%s", error ? error : "out of memory");
		free(error);
		in->bad = true;
		return;
	}
	base = base_of(path, vfd_facts(f));
	if (in->wanted && strcmp(base, in->wanted)) {
		vfd_close(f);
		free(base);
		return;
	}
	if (!in->other)
		in->other = is_of_another_run(in, vfd_facts(f), base);
	if (!in->numbered && vfd_facts(f)->run)
		in->numbered = vfd_facts(f);
	if (in->base && !in->other && strcmp(result_event_in(basename(path)), in->event)) {
		complain("%s is of another event than the files before: name those of one", path);
		in->other = true;
	}
	if (in->base) {
		free(base);
	} else {
		in->event = xstrdup(result_event_in(basename(path)));
		in->base = base;
		in->directory = file_directory(path);
	}
	*APPEND(in->files, in->n, in->cap) = f;
}

static void add_directory(struct inputs *in, const char *path)
{
	const size_t before = in->n + in->seen.n_repeated;
	const bool bad = in->bad;

	if (!vfd_files_in(path, add_file, in)) {
		complain("%s: can't be read: %s", path, strerror(errno));
		in->bad = true;
		return;
	}
	if (in->n + in->seen.n_repeated == before && in->bad == bad) {
		complain(in->wanted ? "%s: no sampling files %s_HOST.vfd"
				    : "%s: no sampling files (BASE_HOST.vfd, HOST.vfd)%s",
			path, in->wanted ? in->wanted : "");
		in->bad = true;
	}
}

static void add_argument(struct inputs *in, const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		add_directory(in, path);
	else
		add_file(in, path);
}

static void inputs_free(struct inputs *in)
{
	for (size_t i = 0; i < in->n; i++)
		vfd_close(in->files[i]);
	result_seen_free(&in->seen);
	free(in->files);
	free(in->base);
	free(in->directory);
	free(in->event);
}

/* ---- options -------------------------------------------------------------------------- */

/* There is none of that name: the one that was meant, or all. */
static void tell_formats(const char *name)
{
	size_t least = strlen(name) / 2 + 1, bytes;
	const char *meant = NULL;
	char *list;
	FILE *f = memory_begin(&list, &bytes);

	for (size_t i = 0; i < export_n_formats; i++) {
		const char *known = export_formats[i].name;
		size_t d = conf_distance(name, strlen(name), known, strlen(known), true);

		fprintf(f, "%s%s", i ? ", " : "", known);
		if (d < least) {
			least = d;
			meant = known;
		}
	}
	memory_end(f);
	if (meant)
		complain("there is no format `%s'; did you mean `%s'?", name, meant);
	else
		complain("there is no format `%s'; there are %s", name, list);
	free(list);
}

static const struct export_format *find_format(const char *name)
{
	for (size_t i = 0; name && i < export_n_formats; i++)
		if (!strcmp(export_formats[i].name, name))
			return &export_formats[i];
	if (name)
		tell_formats(name);
	else
		complain("export: say which format with --format; see vftr export --help");
	return NULL;
}

/* Times instead of the number. */
static bool cut_round(struct inputs *in, struct vfd_span *span, uint64_t round)
{
	if (!round || vfd_round_span(in->files, in->n, round, span))
		return true;
	complain("there is no round %llu in the sampling files of `%s'", (unsigned long long)round,
		in->base);
	return false;
}

static int export_files(const struct export_format *format, struct export_options *o,
	uint64_t round, char **args, int n_args)
{
	struct inputs in = {.wanted = o->base};
	char *output = NULL;
	size_t left_out = 0;
	int status = 2;

	o->n_left_out = &left_out;
	for (int i = 0; i < n_args; i++)
		add_argument(&in, args[i]);
	if (in.n && !in.other) {
		if (!o->output)
			o->output = output =
				xasprintf("%s/%s%s", in.directory, in.base, format->suffix);
		vfd_line_up(in.files, in.n);
		if (!o->mangled)
			vfd_shorten_names(in.files, in.n);
		if (cut_round(&in, &o->span, round))
			status = export_run(format, o, in.files, in.n, in.base);
		if (status != 2 && !o->quiet)
			export_wrote(format, o, in.files, in.n);
		if (!status && in.bad)
			status = 1;
	} else if (!in.n && !in.bad) {
		complain("none of these files is of the run `%s'", o->base);
	}
	inputs_free(&in);
	free(output);
	return status;
}

/* Nothing is to be left out of it, or put together. */
static bool is_whole(const struct export_options *o)
{
	return !o->ranks && !o->span.from_set && !o->span.to_set && !o->sum;
}

int cmd_export(int argc, char **argv)
{
	const struct export_format *format;
	struct export_options o = {0};
	const char *name = NULL;
	uint64_t round = 0;
	bool profile = false;
	const struct cmd_option options[] = {
		{"format", 'f', .text = &name},
		{"output", 'o', .text = &o.output},
		{"ranks", 'r', .text = &o.ranks},
		{"from", .time = &o.span.from, .flag = &o.span.from_set},
		{"to", .time = &o.span.to, .flag = &o.span.to_set},
		{"round", .take = cmd_round, .to = &round},
		{"mangled", .flag = &o.mangled},
		{"sum", .flag = &o.sum},
		{"profile", .flag = &profile},
		{"base", 'b', .text = &o.base},
		{"quiet", 'q', .flag = &o.quiet},
		{"help", 'h', .say = print_usage},
		{0},
	};
	int status = cmd_options(argc, argv, options, NULL);

	if (status >= 0)
		return status;
	format = find_format(name);
	if (!format || !cmd_ranks(o.ranks) || !cmd_span("export", &o.span, round))
		return 2;
	if (optind == argc) {
		complain("export: name a directory or %s; see vftr export --help",
			format->convert ? "a profile" : "sampling files");
		return 2;
	}
	if (format->convert) {
		if (!round && is_whole(&o))
			return cmd_export_database(format, &o, argv + optind, argc - optind);
		complain("export: a profile has no time line: not with --ranks, --from, --to, "
			 "--round or --sum");
		return 2;
	}
	if (profile || export_is_profile(argv + optind, (size_t)(argc - optind))) {
		if (o.mangled) {
			complain("export: --mangled is for sampling files; a profile is shown with "
				 "short names of functions");
			return 2;
		}
		o.span.from_set |= round > 0;
		return export_flame_graph(format, &o, argv + optind, (size_t)(argc - optind));
	}
	return export_files(format, &o, round, argv + optind, argc - optind);
}
