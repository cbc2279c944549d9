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

static void take_one(struct agent *a, const void *news, size_t bytes)
{
	const char *wrong = spawn_news_take(&a->host, news, bytes / sizeof(uint64_t));

	if (wrong)
		host_warn(&a->host, false, "news of another agent were refused: %s", wrong);
}

/* timed: clocks are compared; else what has times stays for later, but without a proxy, where none
 * ever are. */
static void take_all(struct agent *a, bool timed)
{
	for (size_t left = live_news_waiting(a); left; left--) {
		size_t bytes;
		void *news = live_news_next(a, &bytes);

		if (timed || !spawn_news_has_times(news, bytes / sizeof(uint64_t)))
			take_one(a, news, bytes);
		else if (proxy_there())
			live_news_put_back(a, news, bytes);
		free(news);
	}
}

static void tell_all(struct agent *a, bool timed)
{
	uint64_t words[WORDS_MOST];
	size_t n;

	while ((n = spawn_news_next(&a->host, timed, words, WORDS_MOST)))
		live_news_tell(a, words, n * sizeof(*words));
}

static bool is_compared(const struct clock_sync *c)
{
	int64_t error;

	clock_sync_offset(c, (int64_t)clocks_raw_ns(), &error);
	return error != INT64_MAX;
}

/* Before clocks are compared, times of other nodes say nothing. */
static void exchange_all(struct agent *a)
{
	struct clock_sync now, *before = a->host.clock;
	const bool compared = proxy_clock(a->host.transport, 0, &now) && is_compared(&now);

	if (compared) {
		clocks_calibrate(&a->host.clocks);
		a->host.clock = &now;
	}
	take_all(a, compared);
	tell_all(a, compared);
	a->host.clock = before;
	clock_sync_clear(&now);
}

static bool is_alone(const struct agent *a)
{
	return a->joining || !a->host.transport || a->host.transport->size < 2;
}

static bool has_news(const struct agent *a)
{
	return live_news_waiting(a) || spawn_news_any(&a->host);
}

double jobs_tick(struct agent *a)
{
	const double now = transport_now();

	if (is_alone(a))
		return NEVER_S;
	if (live_news_await(a, spawn_news_awaited(&a->host)))
		return 0; /* live_tick() was called before */
	if (!has_news(a))
		return NEVER_S;
	if (now < a->jobs_next)
		return a->jobs_next - now;
	exchange_all(a);
	if (!has_news(a))
		return 0; /* what has not left is live_tick()'s */
	if (!proxy_there())
		return NEVER_S;
	a->jobs_next = now + AGAIN_S;
	return AGAIN_S;
}

void jobs_end(struct agent *a)
{
	if (!is_alone(a) && has_news(a))
		exchange_all(a);
}
