/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-spoil IN OUT SEED: spoils a file of vftr as dice say, and makes its checksums right, which
 * dice would never throw. "dictionary" as SEED: only that of a packed sampling file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/profile/vfp-format.h"
#include "nodeagent/profile/vfp.h"
#include "t/fuzz/sign-vfd.h"

static uint64_t state;

static uint32_t dice(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % n;
}

/* Bytes that lengths and counts are made of. */
static uint8_t byte(void)
{
	static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x10, 0x3f};

	return dice(2) ? odd[dice(sizeof(odd))] : (uint8_t)dice(256);
}

static void spoil(uint8_t *data, size_t *n)
{
	const uint32_t times = 1 + dice(8);

	for (uint32_t i = 0; i<times && * n> 64; i++) {
		const size_t at = dice((uint32_t)*n), other = dice((uint32_t)*n);
		const size_t run = 1 + dice(9), most = *n - (at > other ? at : other);

		switch (dice(6)) {
		case 0:
			memmove(data + at, data + other, run < most ? run : most);
			break;
		case 1:
			for (size_t k = 0; k < run && at + k < *n; k++)
				data[at + k] = 0xff; /* a long varint */
			break;
		case 2:
			if (!dice(8))
				*n = 64 + at;
			*n = *n < 64 ? 64 : *n;
			break;
		default:
			data[at] = byte();
		}
	}
}

static void sign_vfp(uint8_t *data, size_t n)
{
	struct vfp_header h;

	if (n < sizeof(h))
		return;
	memcpy(&h, data, sizeof(h));
	h.checksum = vfp_checksum(data, n);
	memcpy(data, &h, sizeof(h));
}

/* The magic of a dictionary of zstd, and what is none behind it. */
static void spoil_dictionary(uint8_t *data, size_t n)
{
	static const uint8_t magic[] = {0x37, 0xa4, 0x30, 0xec, 1, 2, 3, 4, 0xff, 0xff, 0xff, 0xff};

	for (size_t at = sizeof(struct vfd_preamble); at + sizeof(struct vfd_block) < n;
		at += VFD_ALIGN) {
		struct vfd_block b;

		memcpy(&b, data + at, sizeof(b));
		if (b.magic != VFD_BLOCK_MAGIC || b.kind != VFD_BLOCK_DICTIONARY)
			continue;
		b.flags &= (uint16_t)~VFD_PACKED;
		memcpy(data + at, &b, sizeof(b));
		memcpy(data + at + sizeof(b), magic, sizeof(magic));
		return;
	}
	exit(1); /* it has none */
}

int main(int argc, char **argv)
{
	static uint8_t data[1 << 22];
	FILE *f = fopen(argv[1], "rb");
	size_t n;

	if (argc != 4 || !f)
		return 2;
	n = fread(data, 1, sizeof(data), f);
	fclose(f);
	state = strtoull(argv[3], NULL, 10);
	if (!strcmp(argv[3], "dictionary"))
		spoil_dictionary(data, n);
	else
		spoil(data, &n);
	if (n > 8 && !memcmp(data, VFD_MAGIC, 8))
		sign_vfd(data, n);
	if (n > 8 && !memcmp(data, VFP_MAGIC, 8))
		sign_vfp(data, n);
	f = fopen(argv[2], "wb");
	return !f || fwrite(data, 1, n, f) != n || fclose(f);
}
