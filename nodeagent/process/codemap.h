/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The code map of one process: which module was at which address, and when.
 * Addresses are reused after dlclose(), and records have only the low half of an
 * address. So each unloading begins an epoch, and the keys of frames (calltree.h)
 * at addresses that were ever unloaded have the epoch in them. A module that is
 * loaded there belongs to the epochs since its predecessor was unloaded.
 */
#ifndef VFTR_NODEAGENT_PROCESS_CODEMAP_H
#define VFTR_NODEAGENT_PROCESS_CODEMAP_H

#include <stdbool.h>
#include <stdint.h>
#include "nodeagent/symbols/lines.h"
#include "shm/wire.h"

struct codemap;

struct codemap *codemap_new(void);
void codemap_free(struct codemap *m);

/* The process has found a module at m->head.ticks. path is copied. */
void codemap_add(struct codemap *map, const struct wire_module *m, const char *path);
void codemap_gone(struct codemap *map, uint64_t low, uint64_t ticks);

/* The modules at these addresses are gone, as another one is there now. */
void codemap_replaced(struct codemap *map, uint64_t low, uint64_t high, uint64_t ticks);

/* Number of epochs; the ticks after which an epoch begins. */
uint32_t codemap_epochs(const struct codemap *map);
uint64_t codemap_epoch_start(const struct codemap *map, uint32_t epoch);

/* The low halves of addresses at which modules were unloaded: low, and bytes. */
void codemap_reusable(const struct codemap *map, uint32_t *low, uint32_t *bytes);

/* The key, in the newest epoch, of what is at this key's address; no epoch need have code there. */
uint64_t codemap_newest_key(const struct codemap *map, uint64_t key);

/* Location of a key's function, or of an address in the newest epoch. False: unknown. */
bool codemap_find_key(const struct codemap *map, uint64_t key, struct code_location *location);
bool codemap_find_address(
	const struct codemap *map, uint64_t address, struct code_location *location);

/*
 * Location of an address of data: in the module with the greatest address below it, which may end
 * before.
 */
bool codemap_find_data(const struct codemap *map, uint64_t address, struct code_location *location);

/* True if a file whose name begins so was ever loaded. */
bool codemap_has(const struct codemap *map, const char *name);

#endif
