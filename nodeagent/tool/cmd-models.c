/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr models`: how functions grow with the number of ranks, or another parameter of runs. */
#include "nodeagent/tool/cmd.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/tool/models/models.h"

#define ROWS 10

static const char usage[] =
	"usage: vftr models [OPTIONS] RUN RUN RUN...\n"
	"\n"
	"Shows how times, calls, messages and bytes of functions grow from run to run: models\n"
	"c0 + c1 * p^i * log2(p)^j, where p is the number of ranks, those first that grow most.\n"
	"There must be runs with 3 values of p, better 5 and more; of runs with the same p the\n"
	"median is taken. RUN is a folder with node profiles (BASE_HOST.vfp, HOST.vfp), or such\n"
	"a file.\n"
	"\n"
	"  -p, --parameter NAME  p is the value of the tag NAME that vftr run gave the runs\n"
	"  -a, --at P            what models say of this p; default: 4 times the greatest one\n"
	"  -m, --metric METRIC   time, calls, messages or bytes; may be repeated; default: all\n"
	"      --per WHAT        values of a job, summed over ranks (the default), or of a rank\n"
	"      --by-path         of call paths in place of functions\n"
	"  -n, --number N        at most N rows of each metric, 0: all; default: 10\n"
	"      --extrap FILE     write the values of call paths for Extra-P, - is the standard\n"
	"                        output; no models are made\n"
	"  -c, --csv             as CSV\n"
	"  -j, --json            as JSON\n"
	"  -b, --base BASE       only runs of this name\n"
	"  -h, --help            this text\n"
	"\n"
	"vftr-analysis(7) explains the models.\n"
	"\n"
	"Exit status: 0 done, 1 done without runs or files that could not be read, 2 no model\n"
	"was made, or wrong usage.\n";

struct options {
	struct model_request models;
	unsigned only; /* bits 1 << enum model_metric */
	bool csv, json;
	const char *extrap; /* or NULL */
	int64_t rows;	    /* -1: as many as usual */
};

static bool take_metric(const char *text, void *to)
{
	unsigned *only = to;

	for (unsigned k = 0; k < MODEL_METRICS; k++)
		if (!strcmp(text, model_words[k].name)) {
			*only |= 1u << k;
			return true;
		}
	complain("--metric %s: it is time, calls, messages or bytes", text);
	return false;
}

static bool take_per(const char *text, void *to)
{
	bool *per_rank = to;

	*per_rank = !strcmp(text, "rank");
	if (*per_rank || !strcmp(text, "job"))
		return true;
	complain("--per %s: it is job or rank", text);
	return false;
}

static bool take_at(const char *text, void *to)
{
	double *at = to;
	char *end;

	*at = strtod(text, &end);
	if (end != text && !*end && isfinite(*at) && *at >= 1.0)
		return true;
	complain("--at %s: it is a number from 1 on", text);
	return false;
}

static int show_models(const struct options *o, const struct models *m, int status)
{
	if (m->n_points < FIT_POINTS_GOOD)
		complain("models from %zu values of %s are a guess; use %d or more", m->n_points,
			o->models.parameter ? o->models.parameter : "the number of ranks",
			FIT_POINTS_GOOD);
	if (o->json)
		models_print_json(m, &o->models, o->only);
	else if (o->csv)
		models_print_csv(m, &o->models, o->only);
	else
		models_print(m, &o->models, o->only, o->rows < 0 ? ROWS : (size_t)o->rows);
	return status;
}

static int make_models(const struct options *o, char **paths, size_t n)
{
	struct models m;
	int status = models_read(&m, &o->models, paths, n);

	if (status == 2)
		;
	else if (o->extrap)
		status = models_write_extrap(&m, o->only, o->extrap) ? status : 2;
	else
		status = models_fit(&m, &o->models) ? show_models(o, &m, status) : 2;
	models_free(&m);
	return status;
}

int cmd_models(int argc, char **argv)
{
	struct options o = {.rows = -1};
	const struct cmd_option options[] = {
		{"parameter", 'p', .text = &o.models.parameter},
		{"at", 'a', .take = take_at, .to = &o.models.at},
		{"metric", 'm', .take = take_metric, .to = &o.only},
		{"per", 0, .take = take_per, .to = &o.models.per_rank},
		{"by-path", 0, .flag = &o.models.by_path},
		{"number", 'n', .take = cmd_number, .to = &o.rows},
		{"extrap", 0, .text = &o.extrap},
		{"csv", 'c', .flag = &o.csv},
		{"json", 'j', .flag = &o.json},
		{"base", 'b', .text = &o.models.base},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (optind == argc) {
		complain("models: name folders of runs; see vftr models --help");
		return 2;
	}
	if (o.csv + o.json + (o.extrap != NULL) > 1) {
		complain("models: one of --csv, --json and --extrap");
		return 2;
	}
	if (!o.only)
		o.only = (1u << MODEL_METRICS) - 1;
	o.models.by_path |= o.extrap != NULL;
	return make_models(&o, argv + optind, (size_t)(argc - optind));
}
