/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agents without applications: each makes a profile by dice, stores it, and
 * collates with the others. Agent 0 compares the result with that from files.
 *
 *	app-collate PLUGIN_DIR OUTPUT_DIR DEADLINE [shield] [killed=RANK]
 *		[silent=RANK] [late=RANK:SECONDS] [proxy=RANK]
 *
 * killed: by SIGKILL before collating. silent: never collates. proxy: that
 * of this rank is killed. The hosts are named against the sequence of ranks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/collate/collate.h"
#include "nodeagent/profile/ids.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/proxy/proxy.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/base/util.h"
#include "nodeagent/profile/vfp.h"
#include "t/unit/profile/random-profile.h"

static char *file_of(const char *dir, const struct profile *p)
{
	return xasprintf("%s/app_%s.vfp", dir, p->agents[0].host);
}

static int same(const struct profile *a, const struct profile *b)
{
	unsigned char *x, *y;
	size_t m, n;
	int equal;

	if (vfp_encode(a, &x, &m) || vfp_encode(b, &y, &n))
		return 0;
	equal = m == n && !memcmp(x, y, n);
	free(x);
	free(y);
	return equal;
}

static void report(const struct profile *whole, const char *dir)
{
	struct collate_files *sets;
	struct profile *files;
	size_t n, bad, missing = 0;
	char *error;

	if (collate_find(dir, &sets, &n, &error) || n != 1)
		die(1, "no node profiles in %s", dir);
	files = collate_read(sets[0].paths, sets[0].n, &bad, NULL, NULL);
	printf("agents: %zu\n", whole->n_agents);
	for (size_t i = 0; i < whole->n_agents; i++) {
		if (whole->agents[i].missing) {
			printf("missing: %s\n", whole->agents[i].host);
			missing++;
		}
	}
	printf("ranks: %u\n", whole->ranks);
	printf("missing agents: %zu\n", missing);
	printf("same as files: %s\n", same(whole, files) ? "yes" : "no");
	printf("valid: %s\n", profile_valid(whole) ? profile_valid(whole) : "yes");
}

/* Ids of the agent's stacks in the job, and their paths, as FOLDER/ids.RANK. */
static void write_ids(const char *folder, int rank, const struct profile *p,
	const struct profile_number *numbers, size_t n)
{
	uint64_t *id = profile_ids_in(p, numbers, n);
	char *path = xasprintf("%s/ids.%d", folder, rank);
	FILE *f = fopen(path, "w");

	for (uint32_t i = 0; f && i < p->n_stacks; i++)
		fprintf(f, "%llu %016llx\n", (unsigned long long)id[i],
			(unsigned long long)p->stacks[i].hash);
	if (!f || fclose(f))
		die(1, "%s: can't be written", path);
	free(path);
	free(id);
}

int main(int argc, char **argv)
{
	int killed = -1, silent = -1, proxy = -1, late = -1, n, error;
	double deadline, late_s = 0, begin, took;
	struct profile *mine, *whole;
	struct profile_number *numbers;
	size_t n_numbers;
	struct dice d;
	struct transport *transport;
	char *why = NULL, *path, *plugin;

	if (argc < 4)
		die(2, "usage: app-collate PLUGIN_DIR OUTPUT_DIR DEADLINE ...");
	deadline = atof(argv[3]);
	for (int i = 4; i < argc; i++) {
		sscanf(argv[i], "killed=%d", &killed);
		sscanf(argv[i], "silent=%d", &silent);
		sscanf(argv[i], "proxy=%d", &proxy);
		sscanf(argv[i], "late=%d:%lf", &late, &late_s);
		if (!strcmp(argv[i], "shield"))
			proxy_shield(NULL);
	}
	/* MPICH's mpiexec tells of deaths by this signal */
	signal(SIGUSR1, SIG_IGN);
	/* the end of a proxy */
	signal(SIGTERM, SIG_IGN);
	plugin = transport_plugin(argv[1], NULL);
	transport = plugin ? proxy_open(plugin, 60, &why) : NULL;
	free(plugin);
	if (!transport)
		die(1, "%s", why ? why : "this is the only agent");
	n = transport->size - 1 - transport->rank;
	d.state = n;
	mine = random_profile(&d, n, 200 + 100 * n, UINT64_MAX);
	error = collate_start(transport, mine->agents[0].host, 60);
	if (error)
		die(1, "collate_start: %s", strerror(-error));
	if (transport->rank == killed)
		raise(SIGKILL);
	if (transport->rank == proxy)
		kill(getppid(), SIGKILL);
	if (transport->rank == silent) {
		signal(SIGTERM, SIG_DFL); /* comes when the proxy is ended */
		for (;;)
			pause();
	}
	path = file_of(argv[2], mine);
	if (vfp_write(mine, path))
		die(1, "%s: can't be written", path);
	usleep(500000); /* so that all files are there */
	if (transport->rank == late)
		usleep((useconds_t)(late_s * 1e6));

	begin = transport_now();
	error = collate_run(transport, mine, deadline, &whole, &numbers, &n_numbers);
	took = (transport_now() - begin) / deadline;
	if (whole)
		report(whole, argv[2]);
	if (!transport->rank)
		collate_tell(transport, "app", 5);
	else if (numbers && strcmp(collate_name(transport), "app"))
		die(1, "the name of the job is %s", collate_name(transport));
	if (numbers)
		write_ids(argv[2], transport->rank, mine, numbers, n_numbers);
	printf("agent %d: %s, %zu numbers of %zu, within %s of the deadline\n", transport->rank,
		error ? strerror(-error) : "done", n_numbers, mine->n_stacks,
		took < 0.2    ? "a fifth"
		: took < 0.75 ? "three quarters"
		: took < 1.25 ? "about all"
			      : "more");
	if (getenv("V"))
		printf("%d: %.3f\n", transport->rank, took);
	fflush(stdout);
	collate_end(transport, 0, silent < 0 && proxy < 0 && killed != 0 ? 30 : 5);
	profile_free(mine);
	profile_free(whole);
	free(numbers);
	free(path);
	_exit(0);
}
