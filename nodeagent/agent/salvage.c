/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/salvage.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/agent/finish.h"
#include "nodeagent/agent/results/html-report.h"
#include "nodeagent/agent/results/older-results.h"
#include "nodeagent/agent/results/run-folder.h"
#include "nodeagent/collate/collate.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/report/output.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/prune.h"
#include "nodeagent/base/result-files.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"

#define QUIET_S	   6 /* an agent that is on its own writes within this time */
#define LOOK_NS	   50000000
#define HEAD_BYTES 1024
#define NS_IN_S	   1000000000

/* Node profiles of the run. */
struct found {
	char *base; /* of most of them */
	char **paths;
	size_t n, cap;
};

static void found_free(struct found *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->paths[i]);
	free(f->paths);
	free(f->base);
	*f = (struct found){0};
}

static struct found find_summary(const struct agent *a)
{
	struct collate_files *sets = NULL;
	struct found f = {0};
	size_t n = 0, most = 0;
	char *error = NULL;

	if (collate_find(a->host.output_directory, &sets, &n, &error))
		n = 0; /* there is none */
	free(error);
	for (size_t i = 0; i < n; i++) {
		size_t before = f.n;

		for (size_t k = 0; k < sets[i].n && !result_is_round(sets[i].base); k++) {
			struct stat st;

			if (lstat(sets[i].paths[k], &st) || not_own_file(sets[i].paths[k], &st) ||
				vfp_run(sets[i].paths[k]) != a->host.run)
				continue;
			f.paths = grow(f.paths, f.n + 1, &f.cap, sizeof(*f.paths));
			f.paths[f.n++] = xstrdup(sets[i].paths[k]);
		}
		if (f.n - before > most) {
			most = f.n - before;
			free(f.base);
			f.base = xstrdup(sets[i].base);
		}
	}
	collate_files_free(sets, n);
	return f;
}

static size_t count_words(const char *text)
{
	size_t n = 0;

	for (; *(text += strspn(text, " \n")); n++)
		text += strcspn(text, " \n");
	return n;
}

static struct found wait_for_all(const struct agent *a, const char *hosts)
{
	size_t n_hosts = count_words(hosts), had = 0;
	struct timespec pause = {0, LOOK_NS};
	struct found f = find_summary(a);

	for (int64_t quiet = 0; quiet < (int64_t)QUIET_S * NS_IN_S; quiet += LOOK_NS) {
		if (n_hosts && f.n >= n_hosts)
			break;
		if (f.n != had)
			quiet = 0;
		had = f.n;
		nanosleep(&pause, NULL);
		found_free(&f);
		f = find_summary(a);
	}
	return f;
}

/* What others have put in the place of a summary is not read: it may have no end, or no writer. */
static FILE *open_own(const char *path)
{
	const int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	FILE *f = fd < 0 || fstat(fd, &st) || not_own_file(path, &st) ? NULL : fdopen(fd, "r");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

/* How many agents are in the summary of this run; 0: there is none. */
static size_t summarized(const struct agent *a, const char *base)
{
	char *path = host_result(&a->host, base, RESULT_PROFILE), *line = NULL,
	     *run = xasprintf("\"run\":\"%016" PRIx64 "\"", a->host.run);
	size_t bytes = 0, n = 0, read = 0;
	FILE *f = open_own(path);
	bool ours = false;

	while (f && getline(&line, &bytes, f) > 0) {
		read += strlen(line);
		ours |= read < HEAD_BYTES && strstr(line, run);
		if (!ours && read >= HEAD_BYTES)
			break;
		for (const char *p = line; (p = strstr(p, "\"missing\":false")); p++)
			n++;
	}
	if (f)
		fclose(f);
	free(line);
	free(path);
	free(run);
	return ours ? n : 0;
}

/* Hosts that had an agent and left no profile. */
static void name_missing(const char *hosts, struct profile *p, bool tell)
{
	char *copy = xstrdup(hosts), *save = NULL;
	size_t n = p->n_agents;

	for (char *host = strtok_r(copy, " \n", &save); host; host = strtok_r(NULL, " \n", &save)) {
		size_t k = 0;

		while (k < n && strcmp(p->agents[k].host, host))
			k++;
		if (k < n)
			continue;
		if (tell)
			complain("the agent on %s has left no profile; what ran there is missing",
				host);
		p->agents = xrealloc(p->agents, (p->n_agents + 1) * sizeof(*p->agents));
		p->agents[p->n_agents++] =
			(struct profile_agent){.host = xstrdup(host), .missing = true};
	}
	free(copy);
	profile_sort(p);
}

/* The job's profile, from those of its nodes; NULL: none could be read. */
static struct profile *read_all(
	const struct agent *a, const char *hosts, const struct found *f, bool tell)
{
	size_t bad;
	struct profile *p = collate_read(f->paths, f->n, &bad, NULL, NULL);

	if (p) {
		prune_job(p, prune_from(a->host.conf));
		name_missing(hosts, p, tell);
	}
	return p;
}

/* Returns its profile; NULL: it could not be made. */
static struct profile *make_summary(struct agent *a, const char *hosts, const struct found *f)
{
	char *error = NULL;
	struct profile *p = read_all(a, hosts, f, true);
	int lock, failed;

	if (!p)
		return NULL;
	profile_warn(p, "collated from %zu node %s, as not all agents could finish together", f->n,
		one_or_many(f->n, "profile", "profiles"));
	lock = older_results_begin(a, f->base);
	failed = output_summary(p, a->host.conf, a->host.output_directory, f->base, &error);
	html_report_write(&a->host, p, f->base);
	older_results_end(&a->host, &lock);
	if (!failed)
		return p;
	complain("%s", error);
	free(error);
	profile_free(p);
	return NULL;
}

/* made: its profile; NULL: the agents have made it. */
static void tell_summary(
	const struct agent *a, const char *hosts, const struct found *f, const struct profile *made)
{
	char *path = host_result(&a->host, f->base, RESULT_SUMMARY);
	struct profile *read = NULL;

	if (!made && !strcmp(a->host.conf->output_layout, "run"))
		made = read = read_all(a, hosts, f, false);
	if (made)
		agent_tell_profile(a, made);
	profile_free(read);
	complain("profile: %s", path);
	free(path);
}

bool salvage_summary(struct agent *a, const char *hosts, bool orphans)
{
	struct found f = orphans ? wait_for_all(a, hosts) : find_summary(a);
	const bool by_agents = f.n && summarized(a, f.base) >= f.n;
	struct profile *p = f.n && !by_agents ? make_summary(a, hosts, &f) : NULL;
	const bool made = by_agents || p;

	run_folder_link(a, !made);
	if (!f.n)
		complain("no node has left a profile");
	else if (made && !a->quiet)
		tell_summary(a, hosts, &f, p);
	profile_free(p);
	found_free(&f);
	return made;
}
