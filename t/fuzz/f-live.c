/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for packed views of running jobs, for clang -fsanitize=fuzzer: what agents get from
 * each other. What is accepted has to fit its bounds, be merged with itself, and come back the
 * same when it is packed again.
 */
#include <stdlib.h>
#include <string.h>
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct live_view v, again;
	static unsigned char packed[LIVE_PACKED_MOST], twice[LIVE_PACKED_MOST];
	struct live_names *known = live_names_new();
	size_t n;

	if (!live_unpack(&v, known, data, bytes)) {
		n = live_pack(&v, NULL, packed);
		if (n > sizeof(packed) || live_unpack(&again, NULL, packed, n) ||
			live_pack(&again, NULL, twice) != n || memcmp(packed, twice, n))
			abort();
		live_merge(&v, &again);
		if (v.n_paths > LIVE_PATHS_MAX || v.n_nodes > LIVE_NODES_MAX ||
			live_pack(&v, known, packed) > sizeof(packed))
			abort();
	} else if (v.n_all || v.n_paths) {
		abort();
	}
	live_names_free(known);
	return 0;
}
