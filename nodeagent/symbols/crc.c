/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/symbols/crc.h"

#include "nodeagent/base/hash.h"
#include "nodeagent/base/util.h"

#define POLYNOMIAL 0xedb88320u /* bits reversed */
#define SUMS_KEPT  16u

/* Of files that were read: symbols, objects and lines ask for the same one. */
static struct sum {
	struct stat of;
	uint32_t crc;
} sums[SUMS_KEPT];
static unsigned n_sums;

/* The change time tells of writing, whatever the modification time was set to. */
static bool is_same(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino && x->st_size == y->st_size &&
	       x->st_mtim.tv_sec == y->st_mtim.tv_sec && x->st_mtim.tv_nsec == y->st_mtim.tv_nsec &&
	       x->st_ctim.tv_sec == y->st_ctim.tv_sec && x->st_ctim.tv_nsec == y->st_ctim.tv_nsec;
}

/*
 * A hostile file may be a hole of 8 EiB, which would be read for years. plausible_bytes() is for
 * what is kept in memory, 1 GiB at most: debug files of large programs are larger, and on disks
 * that compress they take less than a quarter. Whoever has put 2 GiB there may have us read 16 GiB.
 */
static bool is_mostly_holes(const struct stat *st)
{
	const uint64_t least = UINT64_C(16) << 20, most = UINT64_C(16) << 30, times = 8;
	const uint64_t size = (uint64_t)st->st_size, disk = (uint64_t)st->st_blocks * 512;

	return size > most || (size > least && size / times > disk);
}

static bool read_crc(int fd, uint64_t size, uint32_t *crc)
{
	unsigned char block[65536];
	struct crc_table table;

	crc_table_make(&table, POLYNOMIAL);
	*crc = 0;
	for (uint64_t at = 0, n; at < size; at += n) {
		n = size - at < sizeof(block) ? size - at : sizeof(block);
		if (read_at(fd, block, n, at) != n)
			return false;
		*crc = crc_add(&table, *crc, block, n);
	}
	return true;
}

bool file_crc(int fd, const struct stat *st, uint32_t *crc)
{
	for (unsigned i = 0; i < SUMS_KEPT && i < n_sums; i++)
		if (is_same(&sums[i].of, st)) {
			*crc = sums[i].crc;
			return true;
		}
	if (is_mostly_holes(st) || !read_crc(fd, (uint64_t)st->st_size, crc))
		return false;
	sums[n_sums++ % SUMS_KEPT] = (struct sum){*st, *crc};
	return true;
}
