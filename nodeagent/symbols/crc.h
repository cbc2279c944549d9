/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC-32 of a whole file, which a link to a debug file has behind its name. */
#ifndef VFTR_NODEAGENT_SYMBOLS_CRC_H
#define VFTR_NODEAGENT_SYMBOLS_CRC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Of the file that is open as fd, st->st_size bytes long; the last ones are kept, so that a file
 * that has not changed is read once. False: it cannot be read to its end, or is refused as it is
 * mostly holes. For one thread.
 */
bool file_crc(int fd, const struct stat *st, uint32_t *crc);

#endif
