/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Agents without applications: each makes a profile by dice, stores it, and
 * collates with the others. Agent 0 compares the result with that from files.
 *
 *	app-collate PLUGIN_DIR OUTPUT_DIR DEADLINE [shield] [killed=RANK]
 *		[silent=RANK] [late=RANK:SECONDS] [courier=RANK]
 *
 * killed: by SIGKILL before collating. silent: never collates. courier: that
 * of this rank is killed. The hosts are named against the sequence of ranks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nodeagent/collate.h"
#include "nodeagent/merge.h"
#include "nodeagent/peer.h"
#include "nodeagent/profile.h"
#include "nodeagent/util.h"
#include "nodeagent/vfp.h"
#include "t/random-profile.h"

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

int main(int argc, char **argv)
{
	int killed = -1, silent = -1, courier = -1, late = -1, n, error;
	double deadline, late_s = 0, begin, took;
	struct profile *mine, *whole;
	uint64_t *hashes, sum = 0;
	size_t n_hashes;
	struct dice d;
	struct peer *peer;
	char *why, *path;

	if (argc < 4)
		die(2, "usage: app-collate PLUGIN_DIR OUTPUT_DIR DEADLINE ...");
	deadline = atof(argv[3]);
	for (int i = 4; i < argc; i++) {
		sscanf(argv[i], "killed=%d", &killed);
		sscanf(argv[i], "silent=%d", &silent);
		sscanf(argv[i], "courier=%d", &courier);
		sscanf(argv[i], "late=%d:%lf", &late, &late_s);
		if (!strcmp(argv[i], "shield"))
			peer_shield();
	}
	/* MPICH's mpiexec tells of deaths by this signal */
	signal(SIGUSR1, SIG_IGN);
	/* the end of a courier */
	signal(SIGTERM, SIG_IGN);
	peer = peer_open(argv[1], NULL, 60, &why);
	if (!peer)
		die(1, "%s", why ? why : "this is the only agent");
	n = peer->size - 1 - peer->rank;
	d.state = n;
	mine = random_profile(&d, n, 200 + 100 * n, UINT64_MAX);
	error = collate_start(peer, mine->agents[0].host, 60);
	if (error)
		die(1, "collate_start: %s", strerror(-error));
	if (peer->rank == killed)
		raise(SIGKILL);
	if (peer->rank == courier)
		kill(getppid(), SIGKILL);
	if (peer->rank == silent) {
		signal(SIGTERM, SIG_DFL); /* comes when the courier is ended */
		for (;;)
			pause();
	}
	path = file_of(argv[2], mine);
	if (vfp_write(mine, path))
		die(1, "%s: can't be written", path);
	usleep(500000); /* so that all files are there */
	if (peer->rank == late)
		usleep((useconds_t)(late_s * 1e6));

	begin = peer_now();
	error = collate_run(peer, mine, deadline, &whole, &hashes, &n_hashes);
	took = (peer_now() - begin) / deadline;
	if (whole)
		report(whole, argv[2]);
	for (size_t i = 0; hashes && i < n_hashes; i++)
		sum = sum * 31 + hashes[i];
	if (hashes && n_hashes && collate_id(mine, 0, hashes, n_hashes) >= n_hashes)
		printf("an id of agent %d is too large\n", peer->rank);
	printf("agent %d: %s, %zu hashes %016llx, within %s of the deadline\n", peer->rank,
		error ? strerror(-error) : "done", n_hashes, (unsigned long long)sum,
		took < 0.2    ? "a fifth"
		: took < 0.75 ? "three quarters"
		: took < 1.25 ? "about all"
			      : "more");
	if (getenv("V"))
		printf("%d: %.3f\n", peer->rank, took);
	fflush(stdout);
	collate_end(peer, 0, silent < 0 && courier < 0 && killed != 0 ? 30 : 5);
	profile_free(mine);
	profile_free(whole);
	free(hashes);
	free(path);
	_exit(0);
}
