/* SPDX-License-Identifier: BSD-3-Clause */
/* Agents that have met over TCP, in one thread, three unless it is said; for u-tcp*.c. */
#ifndef VFTR_T_TCP_AGENTS_H
#define VFTR_T_TCP_AGENTS_H

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/collate/tree.h"
#include "nodeagent/net/tcp/internal.h"
#include "nodeagent/net/tcp/tcp.h"
#include "nodeagent/base/util.h"

/* Its name; the caller frees it, and unlinks the file. */
static char *secret_file(const char *content, mode_t mode)
{
	char *path = xasprintf("/tmp/u-tcp-secret.%d", (int)getpid());
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	ck_assert_int_eq(write(fd, content, strlen(content)), (ssize_t)strlen(content));
	ck_assert_int_eq(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

#ifndef AGENTS
#define AGENTS 3
#endif

static struct tcp_options options[AGENTS];
static struct transport *peers[AGENTS];

static void pump_all(double seconds)
{
	for (double until = transport_now() + seconds; transport_now() < until;)
		for (int i = 0; i < AGENTS; i++)
			if (peers[i])
				peers[i]->pump(peers[i], 0);
}

static bool all_joined(void)
{
	bool all = true;

	for (int i = 0; i < AGENTS; i++)
		all &= tcp_joined(peers[i], &collate_plan_operations);
	return all;
}

/* Agents at ports that are free, which agent 0 learns by its contacts. */
static void __attribute__((unused)) meet(double deadline_s)
{
	static char *found[AGENTS], *secret;
	char *error = NULL;

	secret = secret_file("a secret of more than 16 bytes", 0600);
	for (int i = AGENTS - 1; i >= 0; i--) {
		char host[16];

		snprintf(host, sizeof(host), "host%d", i);
		options[i] = (struct tcp_options){.listen = "127.0.0.1:0",
			.secret = secret,
			.me = -1,
			.lead = i == 0,
			.contacts = found + 1,
			.n_contacts = i ? 0 : AGENTS - 1};
		peers[i] = tcp_open(&options[i], host, "s", deadline_s, &error);
		ck_assert_msg(peers[i] != NULL, "%s", error ? error : "");
		found[i] = xasprintf("127.0.0.1:%u", ((struct tcp *)peers[i])->port);
	}
	unlink(secret);
	for (double until = transport_now() + 20; !all_joined() && transport_now() < until;)
		pump_all(0.005);
	ck_assert(all_joined());
}

static void part(void)
{
	for (int i = 0; i < AGENTS; i++)
		if (peers[i]) {
			collate_plan_free(peers[i]->plan);
			peers[i]->finish(peers[i], 0, 0, transport_now() + 0.1);
		}
	memset(peers, 0, sizeof(peers));
}

#endif
