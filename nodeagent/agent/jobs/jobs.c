/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/jobs/jobs.h"

#include <stdint.h>
#include <stdlib.h>
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/clock/sync.h"
#include "nodeagent/internode/spawn-news.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/net/transport.h"
#include "nodeagent/proxy/proxy.h"

#define AGAIN_S 0.1 /* where clocks were not compared yet */

#define WORDS_MOST (LIVE_NEWS_BYTES / sizeof(uint64_t))

static void take_all(struct agent *a)
{
	size_t bytes;
	void *news;

	while ((news = live_news_next(a, &bytes))) {
		const char *wrong = spawn_news_take(&a->host, news, bytes / sizeof(uint64_t));

		if (wrong)
			host_warn(&a->host, false, "news of another agent were refused: %s", wrong);
		free(news);
	}
}

static void tell_all(struct agent *a)
{
	uint64_t words[WORDS_MOST];
	size_t n;

	while ((n = spawn_news_next(&a->host, words, WORDS_MOST)))
		live_news_tell(a, words, n * sizeof(*words));
}

static bool is_compared(const struct clock_sync *c)
{
	int64_t error;

	clock_sync_offset(c, (int64_t)clocks_raw_ns(), &error);
	return error != INT64_MAX;
}

/* False: clocks were not compared yet, without which times of other nodes say nothing. */
static bool exchange_all(struct agent *a)
{
	struct clock_sync now, *before = a->host.clock;
	const bool compared = proxy_clock(a->host.transport, 0, &now) && is_compared(&now);

	if (compared) {
		clocks_calibrate(&a->host.clocks);
		a->host.clock = &now;
		take_all(a);
		tell_all(a);
		a->host.clock = before;
	}
	clock_sync_clear(&now);
	return compared;
}

double jobs_tick(struct agent *a)
{
	const bool alone = a->joining || !a->host.transport || a->host.transport->size < 2;
	const double now = transport_now();

	if (alone)
		return NEVER_S;
	live_news_await(a, spawn_news_are_awaited(&a->host));
	if (!live_news_any(a) && !spawn_news_any(&a->host))
		return NEVER_S;
	if (now < a->jobs_next)
		return a->jobs_next - now;
	if (exchange_all(a))
		return NEVER_S;
	a->jobs_next = now + AGAIN_S;
	return AGAIN_S;
}
