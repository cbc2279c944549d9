/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which code was where in one process, over its life. Addresses are reused
 * after dlclose(), and records carry only the low half of an address. So each
 * unloading begins an epoch, and the keys of frames (calltree.h) whose address
 * lies where something was ever unloaded carry the epoch. A module that is
 * found at such a place belongs to the epochs since its predecessor went.
 */
#ifndef VFTR_NODEAGENT_CODEMAP_H
#define VFTR_NODEAGENT_CODEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "shm/wire.h"

struct codemap;

struct codemap *codemap_new(void);
void codemap_free(struct codemap *m);

/* A module was found at m->head.ticks. path is copied. */
void codemap_add(struct codemap *map, const struct wire_module *m, const char *path);
void codemap_gone(struct codemap *map, uint64_t low, uint64_t ticks);

/* Number of epochs, and the ticks after which one begins. */
uint32_t codemap_epochs(const struct codemap *map);
uint64_t codemap_epoch_start(const struct codemap *map, uint32_t epoch);

/* The low halves of addresses at which modules were unloaded: low, and bytes. */
void codemap_reusable(const struct codemap *map, uint32_t *low, uint32_t *bytes);

/* A place in a file. Texts are owned by the map. */
struct code_place {
	const char *path;
	uint64_t address; /* ELF address */
	const uint8_t *build_id;
	size_t build_id_bytes;
};

/* Where the function of a key, or an address in the newest epoch, is. */
bool codemap_find_key(const struct codemap *map, uint64_t key, struct code_place *place);
bool codemap_find_address(const struct codemap *map, uint64_t address, struct code_place *place);

/* Whether a file whose name begins so was ever loaded. */
bool codemap_has(const struct codemap *map, const char *name);

#endif
