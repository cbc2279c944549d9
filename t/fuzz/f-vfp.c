/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for the reader of vftr-vfp(5), for clang -fsanitize=fuzzer. What
 * is accepted must merge and come back from its bytes the same, and its efficiency and what is
 * worth mending can be told. The checksum is made right first, as the dice would never throw it.
 * Corpus: any .vfp files.
 */
#include <stdlib.h>
#include <string.h>

#include "conf/conf.h"
#include "nodeagent/profile/merge.h"
#include "nodeagent/profile/profile.h"
#include "nodeagent/profile/vfp-format.h"
#include "nodeagent/profile/vfp.h"
#include "nodeagent/report/efficiency.h"
#include "nodeagent/report/findings.h"
#include "nodeagent/report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void check_round_trip(const struct profile *p)
{
	unsigned char *first, *second;
	size_t m, n;
	char *error;
	struct profile *again;

	if (vfp_encode(p, &first, &m))
		abort();
	again = vfp_decode(first, m, &error);
	if (!again || vfp_encode(again, &second, &n))
		abort();
	if (m != n || memcmp(first, second, n))
		abort();
	profile_free(again);
	free(first);
	free(second);
}

static void check_efficiency(const struct profile *p)
{
	struct efficiency e;

	if (!efficiency_of(p, &e))
		return;
	if (!(e.window_s > 0.0) || !e.ranks || e.parallel < 0.0)
		abort();
	for (unsigned i = 0; i < DOUBTS; i++)
		if (e.doubts >> i & 1)
			free(efficiency_sentence(&e, i));
}

static void check_findings(const struct profile *p)
{
	struct conf *c = conf_default();
	struct findings all;
	struct report r;

	report_init(&r, p, c, NULL, 0);
	all = findings_of(&r);
	for (size_t i = 0; i < all.n; i++)
		if (!all.at[i].n_evidence)
			abort();
	findings_free(&all);
	report_done(&r);
	conf_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	unsigned char *copy = malloc(bytes + 1);
	struct profile *p;
	char *error;

	if (!copy)
		return 0;
	memcpy(copy, data, bytes);
	if (bytes >= sizeof(struct vfp_header)) {
		struct vfp_header h;

		memcpy(&h, copy, sizeof(h));
		memcpy(h.magic, VFP_MAGIC, sizeof(h.magic));
		h.version = VFP_VERSION;
		h.byte_order = VFP_BYTE_ORDER;
		h.bytes = bytes;
		memcpy(copy, &h, sizeof(h));
		h.checksum = vfp_checksum(copy, bytes);
		memcpy(copy, &h, sizeof(h));
	}
	p = vfp_decode(copy, bytes, &error);
	if (!p == !error)
		abort();
	if (p) {
		check_round_trip(p);
		check_efficiency(p);
		check_findings(p);
		p = profile_merge(p, profile_copy(p));
		if (profile_valid(p))
			abort();
	}
	profile_free(p);
	free(error);
	free(copy);
	return 0;
}
