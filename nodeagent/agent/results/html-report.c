/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/results/html-report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/html/json-tree.h"
#include "nodeagent/html/page/page.h"
#include "nodeagent/process/host.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/report/output.h"
#include "nodeagent/report/report.h"

static int write_pages(const struct page_run *run, const char *path)
{
	struct writing *w;
	FILE *f;
	int error = write_begin(&f, &w, path);

	if (error)
		return error;
	pages_write(f, run, 1);
	return write_end(f, w);
}

/* With sampling.keep there are files of events only. Those of other nodes are not looked for: an
 * event is written by all. */
static bool has_files(const struct host *host)
{
	if (host->recorder)
		return recorder_has_files(host);
	return host->conf->sampling_active && !(host->conf->sampling_keep > 0);
}

int html_report_write(const struct host *host, const struct profile *p, const char *base)
{
	struct json_tree *all;
	struct page_run run;
	struct report report;
	char *path, *error = NULL;
	int failed;

	if (!host->conf->report)
		return 0;
	path = host_result(host, base, RESULT_REPORT);
	report_init(&report, p, host->conf, NULL, 0);
	report.log = REPORT_SUMMARY;
	all = json_tree_of(output_json_of, &report, &error);
	run = (struct page_run){.name = p->application ? p->application : "a run",
		.all = all,
		.has_files = has_files(host)};
	failed = all ? write_pages(&run, path) : 0;
	if (!all)
		complain("cannot write %s: %s", path, error);
	else if (failed)
		complain("cannot write %s: %s", path, strerror(-failed));
	json_tree_free(all);
	report_done(&report);
	free(error);
	free(path);
	return all ? failed : -EIO;
}
