/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/flight.h"

#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/recorder/recorder.h"

void flight_exchange(struct agent *a)
{
	struct flight_event here;
	struct live_event e;

	while (live_event_next(a, &e)) {
		if (e.wished)
			recorder_event(&a->host, (struct flight_event){.kind = EVENT_REQUEST},
				"a viewer has asked for it");
		else if (e.kind < RESULT_EVENTS) /* else it is of another version */
			recorder_event_elsewhere(
				&a->host, (struct flight_event){e.kind, e.detail == 1, e.number});
	}
	if (recorder_event_news(&a->host, &here))
		live_event_tell(
			a, &(struct live_event){here.kind, here.of_pid, here.number, false});
}
