/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr findings`: what is worth mending in a run, in sentences with their evidence. */
#include "nodeagent/tool/cmd.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "nodeagent/base/json-write.h"
#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/tool/show/run.h"

static const char usage[] =
	"usage: vftr findings [OPTIONS] RUN...\n"
	"\n"
	"Says in at most five sentences where a run loses its time, the greatest loss first,\n"
	"each with the numbers that prove it and what to try. RUN is a folder with node\n"
	"profiles (BASE_HOST.vfp, HOST.vfp), or such files of one run.\n"
	"\n"
	"  -c, --csv          as CSV, a line for each finding\n"
	"  -j, --json         as JSON\n"
	"  -b, --base BASE    only the run of this name\n"
	"  -h, --help         this text\n"
	"\n"
	"vftr-analysis(7) has a section for each rule.\n"
	"\n"
	"Exit status: 0 done, also if there is nothing to mend; 1 done without files that could\n"
	"not be read; 2 nothing could be read, or wrong usage.\n";

static void print_csv(const struct findings *all)
{
	puts("rule,seconds,percent,text,evidence,try,manual");
	EACH(const struct finding, f, all->at, all->n) {
		char *evidence = finding_evidence_text(f);
		const char *const texts[] = {f->text, evidence, f->advice, f->section};

		fputs(f->rule, stdout);
		if (isnan(f->seconds))
			fputs(",,", stdout);
		else
			printf(",%.9f,%.3f", f->seconds, finding_percent(all, f));
		for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
			putchar(',');
			text_put_csv(stdout, texts[k]);
		}
		putchar('\n');
		free(evidence);
	}
}

static void print_json(const struct findings *all, char **paths, size_t n)
{
	struct json j;

	json_begin(&j, stdout, 2);
	json_object(&j, NULL);
	json_string(&j, "format", "vftr-findings");
	json_uint(&j, "version", 1);
	json_array(&j, "runs");
	for (size_t i = 0; i < n; i++)
		json_string(&j, NULL, paths[i]);
	json_close(&j);
	json_real(&j, "all_s", all->all_s);
	findings_json(&j, all);
	json_uint(&j, "more", all->left);
	json_close(&j);
}

static void print_text(const struct findings *all, const struct run *run)
{
	char *head = run_headline(run);

	puts(head);
	free(head);
	findings_print(stdout, all);
}

int cmd_findings(int argc, char **argv)
{
	bool csv = false, json = false;
	const char *base = NULL;
	const struct cmd_option options[] = {
		{"csv", 'c', .flag = &csv},
		{"json", 'j', .flag = &json},
		{"base", 'b', .text = &base},
		{0},
	};
	int status = cmd_options_for(argc, argv, options, usage, "the folder of a run");
	struct findings all;
	struct run run;

	if (status >= 0)
		return status;
	status = run_open(&run, argv + optind, (size_t)(argc - optind), base);
	if (status == 2)
		return status;
	all = findings_of(&run.r);
	if (json)
		print_json(&all, argv + optind, (size_t)(argc - optind));
	else if (csv)
		print_csv(&all);
	else
		print_text(&all, &run);
	findings_free(&all);
	run_close(&run);
	return status;
}
