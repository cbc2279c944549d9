/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/observers.h"

#include <stddef.h>
#include "nodeagent/agent/last-words.h"
#include "nodeagent/agent/overhead.h"
#include "nodeagent/agent/run-start.h"
#include "nodeagent/filter/filter.h"
#include "nodeagent/gather/gather.h"
#include "nodeagent/internode/collectives.h"
#include "nodeagent/internode/matching.h"
#include "nodeagent/live/exchange/exchange.h"
#include "nodeagent/recorder/recorder.h"
#include "nodeagent/session/session.h"
#include "nodeagent/stack/stack.h"

const struct process_observer *const agent_observers[] = {
	&matching_observer, /* before those that ask for the id it gives */
	&collectives_observer,
	&filter_observer,
	&recorder_observer,
	&session_observer,
	&overhead_observer,
	&last_words_observer,
	&stack_observer, /* before those that read the call trees of an ended process */
	&gather_observer,
	&run_start_observer,
	&live_observer,
	&pause_observer,
	NULL,
};
