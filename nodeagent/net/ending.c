/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/ending.h"

#include "nodeagent/base/util.h"
#include "nodeagent/net/transport.h"

#define LAPSE_S 35.0 /* SIGKILL would have come */
#define LEAST_S 0.5

static double begun, exchange_began; /* 0: not yet */
static bool writes;
static void (*listener)(void *ctx);
static void *listener_ctx;

void ending_begin(void)
{
	if (!ending_is())
		begun = transport_now();
}

void ending_writes(void)
{
	ending_is();
	writes = true;
}

bool ending_is(void)
{
	if (begun > 0 && !writes && transport_now() > begun + LAPSE_S)
		begun = 0;
	return begun > 0;
}

static double least_of(double own_s, double left)
{
	if (left > own_s)
		return own_s;
	return left > LEAST_S ? left : own_s < LEAST_S ? own_s : LEAST_S;
}

double ending_left(double own_s, double reserve_s)
{
	if (!ending_is())
		return own_s;
	return least_of(own_s, begun + ENDING_ALL_S - reserve_s - transport_now());
}

double ending_until(double own)
{
	double now = transport_now();

	return own > now ? now + ending_left(own - now, 0) : own;
}

double ending_exchange(double own_s)
{
	double now = transport_now(), left;

	if (!ending_is())
		return own_s;
	if (exchange_began == 0)
		exchange_began = now;
	left = ending_left(own_s, 0);
	left = MIN(left, exchange_began + ENDING_EXCHANGE_S - now);
	return least_of(own_s, left);
}

void ending_listen(void (*hear)(void *ctx), void *ctx)
{
	listener = hear;
	listener_ctx = ctx;
}

void ending_hear(void)
{
	if (listener)
		listener(listener_ctx);
}
