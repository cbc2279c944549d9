/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr diff`: what has changed from one run to another, call path by call path. */
#include "nodeagent/cmd.h"

#include <getopt.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/diff.h"
#include "nodeagent/util.h"

#define LIMIT 50

static const char usage[] =
	"usage: vftr diff [OPTIONS] A B\n"
	"       vftrace_diff_profiles LOG1 LOG2\n"
	"\n"
	"Compares two profiles by call path. A and B are each BASE_all.json, a log (ours or\n"
	"one of Vftrace's), a node profile BASE_HOST.vfp, or the folder of a run. They may\n"
	"have different numbers of ranks.\n"
	"\n"
	"  -t, --time TIME    excl: exclusive (default), or incl: inclusive\n"
	"  -p, --per WHAT     rank: mean over all ranks (default), or job: their sum\n"
	"  -f, --function     by function instead of call path\n"
	"  -s, --sort KEY     diff (default), percent, significance, a, b, calls, or path\n"
	"  -l, --limit N      at most so many rows; 0 for all. Default: 50, JSON: all\n"
	"  -m, --min S        only differences of at least S seconds\n"
	"  -S, --significant  only what differs by more than the imbalance over ranks\n"
	"  -x, --fail P       exit status 1 if anything took more than P percent longer in B\n"
	"                     (of --min and more; by more than the imbalance, if it is known)\n"
	"  -j, --json         as JSON; see vftr-diff(1)\n"
	"  -V, --vftrace      as vftrace_diff_profiles printed it\n"
	"  -h, --help         this text\n"
	"\n"
	"Exit status: 0 done, 1 see --fail, 2 something could not be read, or wrong usage.\n";

struct request {
	bool inclusive, per_job, function, significant, json, vftrace;
	const char *sort;
	long limit; /* < 0: as usual */
	double min_s, fail_percent;
};

static bool number(const char *option, const char *text, double most, double *value)
{
	char *end;

	*value = strtod(text, &end);
	if (end != text && !*end && *value >= 0.0 && *value <= most)
		return true;
	complain("diff: --%s %s: not a number from 0 to %g", option, text, most);
	return false;
}

/* One of two words. */
static bool choice(const char *option, const char *text, const char *no, const char *yes, bool *to)
{
	*to = !strcmp(text, yes);
	if (*to || !strcmp(text, no))
		return true;
	complain("diff: --%s %s: it is %s or %s", option, text, no, yes);
	return false;
}

static int report(const struct request *r, struct diff *d)
{
	const struct diff_row *grown = NULL;

	if (!diff_sort(d, r->sort)) {
		complain("diff: --sort %s: it is diff, percent, significance, a, b, calls or path",
			r->sort);
		return 2;
	}
	diff_keep(d, r->min_s, r->significant);
	if (r->vftrace)
		diff_print_classic(d, stdout);
	else if (r->json)
		diff_print_json(d, r->limit < 0 ? 0 : (size_t)r->limit, r->function, stdout);
	else
		diff_print(d, r->limit < 0 ? LIMIT : (size_t)r->limit, r->function, stdout);
	if (r->fail_percent >= 0.0)
		grown = diff_grown(d, r->fail_percent);
	if (!grown)
		return 0;
	fflush(stdout);
	complain("%s takes %.3f s in B and %.3f s in A: more than %g %% longer",
		diff_path(d, grown), grown->b_s, grown->a_s, r->fail_percent);
	return 1;
}

static int compare(const struct request *r, const char *file_a, const char *file_b)
{
	struct diff_profile *a, *b = NULL;
	char *error;
	struct diff d;
	int status = 2;

	a = diff_read(file_a, &error);
	if (a)
		b = diff_read(file_b, &error);
	if (!b) {
		complain("%s", error);
		free(error);
		goto out;
	}
	if (r->function) {
		diff_by_function(a);
		diff_by_function(b);
	}
	diff_make(&d, a, b, r->inclusive, !r->per_job);
	status = report(r, &d);
	diff_done(&d);
out:
	diff_profile_free(a);
	diff_profile_free(b);
	return status;
}

static bool take_option(struct request *r, int option)
{
	double n;

	switch (option) {
	case 't':
		return choice("time", optarg, "excl", "incl", &r->inclusive);
	case 'p':
		return choice("per", optarg, "rank", "job", &r->per_job);
	case 'f':
		r->function = true;
		return true;
	case 's':
		r->sort = optarg;
		return true;
	case 'l':
		if (!number("limit", optarg, 1e9, &n))
			return false;
		r->limit = (long)n;
		return true;
	case 'm':
		return number("min", optarg, 1e9, &r->min_s);
	case 'S':
		r->significant = true;
		return true;
	case 'x':
		return number("fail", optarg, 1e9, &r->fail_percent);
	case 'j':
		r->json = true;
		return true;
	case 'V':
		r->vftrace = r->per_job = true;
		return true;
	default:
		return false;
	}
}

int cmd_diff(int argc, char **argv)
{
	static const struct option options[] = {
		{"time", required_argument, NULL, 't'},
		{"per", required_argument, NULL, 'p'},
		{"function", no_argument, NULL, 'f'},
		{"sort", required_argument, NULL, 's'},
		{"limit", required_argument, NULL, 'l'},
		{"min", required_argument, NULL, 'm'},
		{"significant", no_argument, NULL, 'S'},
		{"fail", required_argument, NULL, 'x'},
		{"json", no_argument, NULL, 'j'},
		{"vftrace", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	struct request r = {.sort = "diff", .limit = -1, .fail_percent = -1.0};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "t:p:fs:l:m:Sx:jVh", options, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return 0;
		}
		if (!take_option(&r, option))
			return 2;
	}
	if (optind + 2 != argc) {
		complain("diff: name two profiles; see vftr diff --help");
		return 2;
	}
	return compare(&r, argv[optind], argv[optind + 1]);
}
