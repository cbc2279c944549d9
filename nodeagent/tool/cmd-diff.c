/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr diff`: what has changed from one run to another, call path by call path. */
#include "nodeagent/tool/cmd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/tool/diff/diff.h"
#include "nodeagent/base/util.h"

#define LIMIT 50

static const char usage[] =
	"usage: vftr diff [OPTIONS] A B\n"
	"       vftrace_diff_profiles LOG1 LOG2\n"
	"\n"
	"Compares two profiles by call path. A and B are each the folder of a run, a profile\n"
	"(BASE_all.json, profile.json), a log, also of Vftrace, or a node profile\n"
	"(BASE_HOST.vfp, HOST.vfp). They may have different numbers of ranks.\n"
	"\n"
	"  -t, --time TIME    excl: exclusive (the default), or incl: inclusive\n"
	"  -p, --per WHAT     rank: mean over all ranks (the default), or job: their sum\n"
	"  -f, --function     by function instead of call path\n"
	"  -s, --sort KEY     diff (the default), percent, significance, a, b, calls, or path\n"
	"  -l, --limit N      at most so many rows, 0: all; default: 50, JSON: all\n"
	"  -m, --min S        only differences of at least S seconds\n"
	"  -S, --significant  only differences larger than the imbalance over ranks\n"
	"  -x, --fail P       exit status 1 if a row took more than P percent longer in B;\n"
	"                     of --min at least, and if the imbalance is known, by more than it\n"
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

static bool read_number(const char *option, const char *text, double most, double *value)
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
	if (grown->a == DIFF_NONE)
		complain("%s is new in B (%.3f s)", diff_path(d, grown), grown->b_s);
	else
		complain("%s takes %.3f s in B and %.3f s in A: more than %g %% longer",
			diff_path(d, grown), grown->b_s, grown->a_s, r->fail_percent);
	return 1;
}

/* What is missing would be faster than it was. */
static bool is_whole(const struct diff_profile *p)
{
	if (p->n_bad)
		complain("%s: %zu %s can't be read: --fail can't tell", p->file, p->n_bad,
			one_or_many(p->n_bad, "node profile", "node profiles"));
	return !p->n_bad;
}

static int compare_files(const struct request *r, const char *file_a, const char *file_b)
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
	if (r->fail_percent >= 0.0 && (!is_whole(a) || !is_whole(b)))
		status = 2;
out:
	diff_profile_free(a);
	diff_profile_free(b);
	return status;
}

static bool take_time(const char *text, void *to)
{
	return choice("time", text, "excl", "incl", to);
}

static bool take_per(const char *text, void *to)
{
	return choice("per", text, "rank", "job", to);
}

static bool take_limit(const char *text, void *to)
{
	double n;

	if (!read_number("limit", text, 1e9, &n))
		return false;
	*(long *)to = (long)n;
	return true;
}

static bool take_min(const char *text, void *to)
{
	return read_number("min", text, 1e9, to);
}

static bool take_fail(const char *text, void *to)
{
	return read_number("fail", text, 1e9, to);
}

int cmd_diff(int argc, char **argv)
{
	struct request r = {.sort = "diff", .limit = -1, .fail_percent = -1.0};
	const struct cmd_option options[] = {
		{"time", 't', .take = take_time, .to = &r.inclusive},
		{"per", 'p', .take = take_per, .to = &r.per_job},
		{"function", 'f', .flag = &r.function},
		{"sort", 's', .text = &r.sort},
		{"limit", 'l', .take = take_limit, .to = &r.limit},
		{"min", 'm', .take = take_min, .to = &r.min_s},
		{"significant", 'S', .flag = &r.significant},
		{"fail", 'x', .take = take_fail, .to = &r.fail_percent},
		{"json", 'j', .flag = &r.json},
		{"vftrace", 'V', .flag = &r.vftrace, .also = &r.per_job},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (optind + 2 != argc) {
		complain("diff: name two profiles; see vftr diff --help");
		return 2;
	}
	return compare_files(&r, argv[optind], argv[optind + 1]);
}
