/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From where MPI functions are called: a frame for the place, KEY_SITE, around that of the
 * function. It begins and ends with it, so it has no time of its own.
 */

#include "nodeagent/base/util.h"
#include "nodeagent/replay/internal.h"

#define SITES_FIRST 256u /* functions that there is room for at first: all of messages */

/* The place is in the call, not behind it, where another line may begin. */
static uint64_t site_key(uint64_t site, const struct replay_epoch *e)
{
	const uint64_t address = CALL_SITE_ADDRESS(site) - 1;
	const uint32_t epoch = (uint32_t)((uint32_t)address - e->low) < e->bytes ? e->epoch : 0;

	return KEY_SITE | key_wide(address, epoch);
}

static void set_site(struct replay *r, uint32_t function, uint64_t site)
{
	size_t n = r->n_sites ? r->n_sites : SITES_FIRST;

	while (n <= function)
		n *= 2;
	if (n > r->n_sites) {
		r->sites = xrealloc(r->sites, n * sizeof(*r->sites));
		for (size_t i = r->n_sites; i < n; i++)
			r->sites[i] = 0;
		r->n_sites = n;
	}
	r->sites[function] = site;
}

/* Neither where paths are folded nor where they are too many. */
static bool has_frame(const struct replay *r)
{
	return r->top + 1 < r->deep && replay_node(r->top)->key != KEY_OVERFLOW;
}

static void enter_from(struct replay *r, uint64_t site, uint32_t id, uint64_t t)
{
	if (has_frame(r)) {
		replay_open(r, site, t);
		if (r->error)
			return;
		if (r->top->node->key == KEY_OVERFLOW)
			replay_pop(r, t);
		else
			r->top->node->calls++;
	}
	replay_enter(r, id, t);
}

/* By the epoch of this call: another module may be where the one of the call before was. */
bool replay_enter_mpi(struct replay *r, uint32_t id, const struct replay_epoch *epoch, uint64_t t)
{
	const uint32_t function = id - RECORD_ID_MPI;

	if (function >= r->n_sites || !r->sites[function])
		return false;
	enter_from(r, site_key(r->sites[function], epoch), id, t);
	return true;
}

bool replay_take_call_site(struct replay *r, const struct ring_record *rec)
{
	const uint32_t function = CALL_SITE_FUNCTION(rec->last);
	const uint64_t key = site_key(rec->last, rec->epoch);

	if (function >= CALL_SITE_FUNCTIONS || !(rec->last & CALL_SITE_MARK)) {
		r->error = "a call from nowhere";
		return true;
	}
	if (r->slow & SLOW_PAUSED) /* recording goes on without a word */
		replay_go_on(r, rec->ticks, 0);
	replay_expect_sites(r); /* here, too, where there is no frame for it */
	if (!(rec->last & CALL_SITE_ONCE))
		set_site(r, function, rec->last);
	enter_from(r, key, RECORD_ID_MPI + function, rec->ticks);
	if (r->slow & SLOW_GOT)
		replay_hold_lock(r, false, rec->ticks);
	return true;
}

void replay_expect_sites(struct replay *r)
{
	r->fast_least = RECORD_ID_REGION;
	if (r->fast_from < r->fast_least)
		r->fast_from = r->fast_least;
}
