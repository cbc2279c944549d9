/* SPDX-License-Identifier: BSD-3-Clause */
/* The format of vftr-vfp(5), for its writer and reader; its sections are profile_schema[]. */
#ifndef VFTR_NODEAGENT_PROFILE_VFP_FORMAT_H
#define VFTR_NODEAGENT_PROFILE_VFP_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "nodeagent/profile/schema.h"

#define VFP_BYTE_ORDER 0x0102030405060708u
#define VFP_NO_TEXT    UINT64_MAX
#define VFP_TEXT_TAG   "texts   "

struct vfp_header {
	char magic[8];
	uint64_t version;
	uint64_t byte_order;
	uint64_t bytes; /* of everything, this header included */
	uint64_t n_sections;
	uint64_t run;	   /* 0: not known */
	uint64_t checksum; /* of everything but this word */
};

struct vfp_section_header {
	char tag[8];
	uint64_t count;
	uint64_t record_bytes;
};

/* Bytes of one record in the file. */
size_t vfp_record_bytes(const struct profile_schema *s);
/* The checksum of a whole file, of the version that its header has: vftr-vfp(5). */
uint64_t vfp_checksum(const unsigned char *buf, size_t bytes);

static inline size_t vfp_padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

#endif
