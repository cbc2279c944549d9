/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/metrics-file.h"

#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/results/run-folder.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/live/metrics/metrics.h"

void metrics_file_begin(struct agent *a)
{
	const char *wish = a->host.conf->agent_metrics_file;
	char *job, *path, *why = NULL;

	if (!wish)
		return;
	job = batch_job();
	path = run_folder_pattern(wish, NULL, NULL, a->host.name, &why);
	if (path)
		a->metrics = metrics_new(&a->host, path, job, a->host.conf->agent_metrics_every_s);
	else
		host_warn(&a->host, false,
			"agent.metrics_file: in `%s' only %%h (the host), %%j (the batch job) and "
			"%%%% stand for something",
			wish);
	free(why);
	free(path);
	free(job);
}

double metrics_file_tick(struct agent *a)
{
	return a->metrics ? metrics_tick(a->metrics) : NEVER_S;
}

void metrics_file_end(struct agent *a)
{
	metrics_end(a->metrics);
	a->metrics = NULL;
}
