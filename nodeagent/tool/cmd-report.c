/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr report`: a run as one HTML file. */
#include "nodeagent/tool/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/html/json-tree.h"
#include "nodeagent/report/output.h"
#include "nodeagent/tool/report/timeline.h"
#include "nodeagent/tool/show/run.h"

static const char usage[] =
	"usage: vftr report [OPTIONS] RUN...\n"
	"\n"
	"Writes what is known of a run to one HTML file, for which a browser needs no other\n"
	"file, and prints its path. RUN is a folder with node profiles (BASE_HOST.vfp,\n"
	"HOST.vfp), or such a file. Several runs have a column each in the tables of\n"
	"efficiencies and functions, and the call paths of the first two are compared; the\n"
	"rest is of the first.\n"
	"\n"
	"  -o, --output FILE  write to this file; - is the standard output; default: NAME.html\n"
	"                     beside the node profiles of the first run, of several runs\n"
	"                     NAME-compared.html\n"
	"  -b, --base BASE    only runs of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done; 1 done without runs or files that could not be read; 2 nothing\n"
	"could be read or written, or wrong usage.\n";

struct reported {
	struct page_run *runs;
	struct run *read; /* what runs are of */
	char **names;
	struct json_tree **values;
	size_t n;
	char *path;		   /* of the file if none was named */
	struct timeline *timeline; /* of the first run */
};

static struct json_tree *values_of(struct run *run)
{
	struct json_tree *all;
	char *error;

	run->r.log = REPORT_SUMMARY;
	all = json_tree_of(output_json_of, &run->r, &error);
	if (!all)
		complain("cannot read back the JSON of %s: %s", run->name, error);
	free(error);
	return all;
}

/* As the exit status of a command on this run alone. */
static int add_run(struct reported *all, char *path, const char *base)
{
	struct run *run = &all->read[all->n];
	int status = run_open(run, &path, 1, base);
	struct json_tree *values;

	if (status == 2)
		return status;
	values = values_of(run);
	if (!values) {
		run_close(run);
		return 2;
	}
	all->names[all->n] = run_short_name(path);
	all->values[all->n] = values;
	if (!all->n)
		all->timeline = timeline_read(run->paths, run->n_paths, values);
	all->runs[all->n] = (struct page_run){
		all->names[all->n], values, all->n ? NULL : timeline_page(all->timeline)};
	all->n++;
	return status;
}

/* That of a comparison leaves alone what there may be of the first run. */
static char *default_path(const struct reported *all)
{
	return xasprintf("%s/%s%s.html", all->read->directory, all->read->name,
		all->n > 1 ? "-compared" : "");
}

static int write_report(const struct reported *all, const char *path)
{
	struct writing *w;
	FILE *f;
	int error;

	if (!strcmp(path, "-")) {
		pages_write(stdout, all->runs, all->n);
		return 0; /* errors are seen at the end of the command */
	}
	error = write_begin(&f, &w, path);
	if (!error) {
		pages_write(f, all->runs, all->n);
		error = write_end(f, w);
	}
	if (error) {
		complain("cannot write %s: %s", path, strerror(-error));
		return 2;
	}
	puts(path);
	return 0;
}

static void free_reported(struct reported *all)
{
	for (size_t i = 0; i < all->n; i++) {
		json_tree_free(all->values[i]);
		run_close(&all->read[i]);
		free(all->names[i]);
	}
	free(all->values);
	free(all->read);
	free(all->names);
	free(all->runs);
	free(all->path);
	timeline_free(all->timeline);
}

int cmd_report(int argc, char **argv)
{
	const char *output = NULL, *base = NULL;
	const struct cmd_option options[] = {
		{"output", 'o', .text = &output},
		{"base", 'b', .text = &base},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage), written;
	const size_t n = status < 0 ? (size_t)(argc - optind) : 0;
	struct reported all = {0};

	if (status >= 0)
		return status;
	if (!n) {
		complain("report: name the folder of a run; see vftr report --help");
		return 2;
	}
	all.runs = xcalloc(n, sizeof(*all.runs));
	all.read = xcalloc(n, sizeof(*all.read));
	all.names = xcalloc(n, sizeof(*all.names));
	all.values = xcalloc(n, sizeof(*all.values));
	status = 0;
	for (int i = optind; i < argc; i++)
		status |= add_run(&all, argv[i], base) != 0;
	if (all.n)
		all.path = default_path(&all);
	written = all.n ? write_report(&all, output ? output : all.path) : 2;
	free_reported(&all);
	return written ? written : status;
}
