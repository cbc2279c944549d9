/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target for `vftr compress', for clang -fsanitize=fuzzer: what it takes it writes so that the
 * reader finds the same events in it, packed and unpacked again. Corpus: .vfd files.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/read/file.h"
#include "nodeagent/trace/repack.h"
#include "t/fuzz/sign-vfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The bytes of the new file; NULL: the old one was not taken. */
static char *repack(const void *data, size_t bytes, int level, size_t *n)
{
	struct vfd_repack r = {.level = level, .unfinished = true};
	const int from = memfd_create("from", MFD_CLOEXEC);
	char *to = NULL, *error;
	FILE *f = open_memstream(&to, n);

	if (from < 0 || !f || write(from, data, bytes) != (ssize_t)bytes)
		abort();
	error = vfd_repack(from, f, &r);
	fclose(f);
	close(from);
	if (!error)
		return to;
	free(error);
	free(to);
	return NULL;
}

static size_t damages(const struct vfd_file *f)
{
	size_t n;

	vfd_damage(f, &n);
	return n;
}

static void same_facts(const void *a, size_t n_a, const void *b, size_t n_b)
{
	char *error_a, *error_b;
	struct vfd_file *f = vfd_open_bytes(a, n_a, "a", &error_a),
			*g = vfd_open_bytes(b, n_b, "b", &error_b);

	/* numbers that are too large for a file may be possible in a packed one */
	if (f && g && !vfd_facts(f)->unknown_blocks && !damages(f) && !damages(g) &&
		(vfd_facts(f)->samples != vfd_facts(g)->samples ||
			vfd_facts(f)->messages != vfd_facts(g)->messages))
		abort();
	vfd_close(f);
	vfd_close(g);
	free(error_a);
	free(error_b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	uint8_t *copy = malloc(bytes + 1);
	char *packed, *plain;
	size_t n, m;

	if (!copy)
		abort();
	memcpy(copy, data, bytes);
	sign_vfd(copy, bytes);
	packed = repack(copy, bytes, 1, &n);
	if (packed) {
		same_facts(copy, bytes, packed, n);
		plain = repack(packed, n, 0, &m);
		if (!plain)
			abort();
		same_facts(packed, n, plain, m);
		free(plain);
	}
	free(packed);
	free(copy);
	return 0;
}
