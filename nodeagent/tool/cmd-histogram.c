/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr histogram`: how large the messages of a run were, as text or as a picture. */
#include "nodeagent/tool/cmd.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/tool/histogram/histogram.h"
#include "nodeagent/base/util.h"

#define FILES_MAX 1000

static const char usage[] =
	"usage: vftr histogram [--send|--recv] [--bytes] [--svg PICTURE] FILE...\n"
	"\n"
	"Shows how many messages of which size the runs have sent and received. FILE is\n"
	"a profile (BASE_all.json, profile.json), a node profile (BASE_HOST.vfp,\n"
	"HOST.vfp), or the folder of a run.\n"
	"\n"
	"  -s, --send         only sends\n"
	"  -r, --recv         only receives\n"
	"  -b, --bytes        bytes in messages of that size, instead of their number\n"
	"  -o, --svg PICTURE  write a picture (SVG) instead of text; - is standard output\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 the picture could not be written, 2 a file could not be\n"
	"read, or wrong usage.\n";

static int write_picture(
	const char *path, const struct histogram *all, size_t n, const struct histogram_view *v)
{
	FILE *f;
	struct writing *tmp;
	int rc;

	if (!strcmp(path, "-")) {
		histogram_svg(all, n, v, stdout);
		return 0;
	}
	rc = write_begin(&f, &tmp, path);
	if (!rc) {
		histogram_svg(all, n, v, f);
		rc = write_end(f, tmp);
	}
	if (rc)
		complain("%s: %s", path, strerror(-rc));
	return rc ? 1 : 0;
}

static int draw(const char *picture, char **files, size_t n, const struct histogram_view *v)
{
	struct histogram *all = xcalloc(n, sizeof(*all));
	size_t read = 0;
	int status = 0;

	for (size_t i = 0; i < n; i++) {
		char *error;

		char *file = cmd_file_in(files[i], RESULT_PROFILE, "profile.json, BASE_all.json");

		if (!file) {
			status = 2;
			continue;
		}
		if (!histogram_read(file, &all[read], &error)) {
			free(file);
			read++;
			continue;
		}
		free(file);
		complain("%s", error);
		free(error);
		free(all[read].file);
		status = 2;
	}
	for (size_t i = 0; i < read && !picture; i++) {
		if (i)
			putchar('\n');
		histogram_print(&all[i], v, stdout);
	}
	if (picture && read && write_picture(picture, all, read, v) && !status)
		status = 1;
	for (size_t i = 0; i < read; i++)
		free(all[i].file);
	free(all);
	return status;
}

int cmd_histogram(int argc, char **argv)
{
	struct histogram_view v = {0};
	const char *picture = NULL;
	const struct cmd_option options[] = {
		{"send", 's', .flag = &v.shown[HISTOGRAM_SENDS]},
		{"recv", 'r', .flag = &v.shown[HISTOGRAM_RECEIVES]},
		{"bytes", 'b', .flag = &v.bytes},
		{"svg", 'o', .text = &picture},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (!v.shown[HISTOGRAM_SENDS] && !v.shown[HISTOGRAM_RECEIVES])
		v.shown[HISTOGRAM_SENDS] = v.shown[HISTOGRAM_RECEIVES] = true;
	if (optind == argc || argc - optind > FILES_MAX) {
		complain("histogram: name 1 to %d files; see vftr histogram --help", FILES_MAX);
		return 2;
	}
	return draw(picture, argv + optind, (size_t)(argc - optind), &v);
}
