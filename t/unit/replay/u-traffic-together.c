/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tests of u-traffic-sync.c, where the waits of all calls but those of which ranks must be
 * known in their order are counted later, and of several calls together, as otherwise only with
 * many members.
 */
#define SYNC_AT_ONCE  0u
#define SYNC_TOGETHER 5u
#include "nodeagent/replay/comm/sync.c"
#include "nodeagent/replay/comm/sync-plain.c"
#include "nodeagent/replay/comm/sync-waits.c"

#include "t/unit/replay/u-traffic-sync.c"
