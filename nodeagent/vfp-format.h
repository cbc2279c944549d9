/* SPDX-License-Identifier: BSD-3-Clause */
/* What the writer and the reader of vftr-vfp(5) share: the tables of its records. */
#ifndef VFTR_NODEAGENT_VFP_FORMAT_H
#define VFTR_NODEAGENT_VFP_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VFP_BYTE_ORDER 0x0102030405060708u
#define VFP_NO_TEXT    UINT64_MAX
#define VFP_TEXT_TAG   "texts   "

/* How a member of a struct stands in the file: one 64-bit word, U128 two. */
enum vfp_kind { U64, U128, U32, COUNT, I32, I64, REAL, FLAG, END, TEXT, TEXT_OR_NULL };

struct vfp_field {
	enum vfp_kind kind;
	size_t offset; /* in the struct in memory */
};

struct vfp_section {
	char tag[8];
	const struct vfp_field *fields;
	size_t n_fields;
	size_t element_bytes; /* in memory; 0: the profile itself */
	size_t count, array;  /* where in struct profile */
	bool optional;	      /* a file without it has none */
};

#define VFP_N_SECTIONS 37
extern const struct vfp_section vfp_sections[VFP_N_SECTIONS];

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

/* Of one record in the file. */
size_t vfp_record_bytes(const struct vfp_section *s);
/* Of a whole file: FNV-1a, 64 bits. */
uint64_t vfp_checksum(const unsigned char *buf, size_t bytes);

static inline size_t vfp_padded(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

#endif
