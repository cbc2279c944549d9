/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles are pointers in one MPI and ints in another; here they are 64-bit keys. */
#ifndef VFTR_MPI_HANDLE_H
#define VFTR_MPI_HANDLE_H

#include <stdint.h>
#include <string.h>
#include "shm/spin.h"

#define HANDLE_KEY(handle)                                                                         \
	__extension__({                                                                            \
		__typeof__(handle) h_ = (handle);                                                  \
		uint64_t key_ = 0;                                                                 \
		memcpy(&key_, &h_, sizeof(h_));                                                    \
		key_;                                                                              \
	})

static inline uint64_t handle_hash(uint64_t key)
{
	key *= 0x9e3779b97f4a7c15u;
	return key ^ key >> 32;
}

#endif
