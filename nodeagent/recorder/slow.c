/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the main loop that are slow, as an event of the flight recorder. */
#include <inttypes.h>
#include <stdlib.h>

#include "conf/conf.h"
#include "nodeagent/base/util.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/process.h"
#include "nodeagent/recorder/internal.h"
#include "nodeagent/replay/replay.h"

#define LEAST_NS 1e6

static bool is_loop(struct recorder *s, const char *name)
{
	const char *pattern = s->host->conf->iterations_of;

	if (!pattern)
		return true;
	if (!s->has_loop)
		s->has_loop = !regcomp(&s->loop, pattern, REG_EXTENDED | REG_NOSUB);
	return s->has_loop && !regexec(&s->loop, name, 0, NULL, 0);
}

static void on_slow(void *ctx, const struct node *n, const struct replay_slow *call)
{
	const struct thread_ring *t = ctx;
	const struct process *p = t->process;
	const struct clocks *c = &p->host->clocks;
	const char *name;
	char *what;

	if (!recorder_awaits(p->host, EVENT_SLOW))
		return;
	name = symcache_name(p->host->symbols, p, n->key);
	if (!is_loop(p->host->recorder, name))
		return;
	what = xasprintf("%s %" PRIu64
			 "%s of %s of %s took %.3f ms; half of those before took %.3f "
			 "ms at most",
		call->between ? "iteration" : "call", call->number,
		call->between ? " between calls" : "", name, process_name(p),
		1e-6 * (double)clocks_ns(c, call->ticks), 1e-6 * (double)clocks_ns(c, call->usual));
	recorder_event(
		p->host, (struct flight_event){.kind = EVENT_SLOW, .number = call->number}, what);
	free(what);
}

void recorder_watch_slow(struct thread_ring *t)
{
	const struct recorder *s = t->process->sampled->recorder;
	const struct conf *c = s->host->conf;

	if (s->flight && !t->number && c->iterations_active &&
		conf_has_word(c->sampling_when, "slow"))
		replay_watch_slow(t->replay, (uint64_t)(LEAST_NS / s->host->clocks.ns_per_tick),
			c->iterations_of, on_slow, t);
}
