/* SPDX-License-Identifier: BSD-3-Clause */
/* For fuzzers of sampling files: dice throw no checksum that is right. */
#ifndef VFTR_T_SIGN_VFD_H
#define VFTR_T_SIGN_VFD_H

#include <stdint.h>
#include <string.h>

#include "nodeagent/trace/block.h"
#include "nodeagent/trace/format.h"

/* Makes preamble and checksums right. */
static inline void sign_vfd(uint8_t *data, size_t bytes)
{
	const struct vfd_preamble p = {
		.magic = VFD_MAGIC, .version = VFD_VERSION, .byte_order = VFD_BYTE_ORDER};
	size_t at = sizeof(p);

	if (bytes < sizeof(p))
		return;
	memcpy(data, &p, sizeof(p));
	while (bytes - at >= sizeof(struct vfd_block)) {
		struct vfd_block b;

		memcpy(&b, data + at, sizeof(b));
		if (b.magic != VFD_BLOCK_MAGIC || b.bytes > bytes - at - sizeof(b) ||
			vfd_padded(b.bytes) > bytes - at - sizeof(b)) {
			at += VFD_ALIGN;
			if (at > bytes)
				return;
			continue;
		}
		b.crc = 0;
		memcpy(data + at, &b, sizeof(b));
		b.crc = vfd_crc(0, data + at, sizeof(b) + vfd_padded(b.bytes));
		memcpy(data + at, &b, sizeof(b));
		at += sizeof(b) + vfd_padded(b.bytes);
	}
}

#endif
