/* SPDX-License-Identifier: BSD-3-Clause */
/* The location of code: an address in an ELF file. */
#ifndef VFTR_NODEAGENT_SYMBOLS_CODE_LOCATION_H
#define VFTR_NODEAGENT_SYMBOLS_CODE_LOCATION_H

#include <stddef.h>
#include <stdint.h>

/* The maker owns the texts: a code map, or the reader of a trace. */
struct code_location {
	const char *path;
	uint64_t address; /* ELF address */
	const uint8_t *build_id;
	size_t build_id_bytes;
};

#endif
