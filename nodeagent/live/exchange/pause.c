/* SPDX-License-Identifier: BSD-3-Clause */
/* A pause of all recording, as a viewer orders it: here it goes to the processes of this node. */
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/process.h"
#include "nodeagent/profile/profile.h"
#include "shm/atomic.h"

/* Only the agent's thread writes the word; relaxed: it stands for itself. */
static void tell_process(struct process *p)
{
	const uint32_t orders = load_relaxed(&p->control->orders) & ~(uint32_t)ORDER_PAUSE;

	store_relaxed(&p->control->orders, orders | (p->host->pause.off ? ORDER_PAUSE : 0));
}

static void begin_process(struct process *p)
{
	if (p->control)
		tell_process(p);
}

static void order_pause(struct host *host, const struct function_switch *order)
{
	struct function_switch *pause = &host->pause;
	char from[HOST_CLOCK_BYTES], until[HOST_CLOCK_BYTES];

	if (order->name[0] || order->stamp <= pause->stamp)
		return;
	host_clock_text(from, pause->stamp);
	host_clock_text(until, order->stamp);
	if (pause->off && order->off)
		return; /* since the first order */
	if (pause->off)
		host_warn(host, false,
			"recording was paused from %s to %s, as vftr top had ordered", from, until);
	*pause = *order;
	for (struct process *p = host->live; p; p = p->next_live)
		if (p->control && !p->ended)
			tell_process(p);
}

static void gather_pause(const struct host *host, struct profile *out)
{
	char from[HOST_CLOCK_BYTES];

	host_clock_text(from, host->pause.stamp);
	if (host->pause.off)
		profile_warn(out, "recording was paused from %s on, as vftr top had ordered", from);
}

const struct process_observer pause_observer = {
	.begin = begin_process, .switch_function = order_pause, .gather = gather_pause};
