/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/format.h"
#include "nodeagent/trace/varint.h"

#define HEAD_BYTES 2048 /* names of hosts and programs, and numbers */

static uint64_t run_of_header(struct varint_reader *r)
{
	uint64_t field;

	while ((field = varint_get(r)) != VFD_FIELD_END) {
		uint64_t value;
		size_t n;

		if (field <= VFD_FIELD_WRITER) {
			varint_get_text(r, &n);
			continue;
		}
		value = varint_get(r);
		if (field == VFD_FIELD_RUN && !r->bad)
			return value;
	}
	return 0;
}

uint64_t vfd_run(const char *path)
{
	unsigned char head[sizeof(struct vfd_preamble) + sizeof(struct vfd_block) + HEAD_BYTES];
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	const size_t before = sizeof(struct vfd_preamble) + sizeof(struct vfd_block);
	const ssize_t n = fd < 0 ? 0 : read(fd, head, sizeof(head));
	struct varint_reader r = {head + before, head + (n > 0 ? n : 0), false};
	struct vfd_preamble preamble;
	struct vfd_block block;

	if (fd >= 0)
		close(fd);
	if (n <= (ssize_t)before)
		return 0;
	memcpy(&preamble, head, sizeof(preamble));
	memcpy(&block, head + sizeof(preamble), sizeof(block));
	if (memcmp(preamble.magic, VFD_MAGIC, sizeof(preamble.magic)) ||
		preamble.byte_order != VFD_BYTE_ORDER || block.magic != VFD_BLOCK_MAGIC ||
		block.kind != VFD_BLOCK_HEADER)
		return 0;
	return run_of_header(&r);
}

static bool are_in_one_folder(const char *a, const char *b)
{
	char *a_folder = file_directory(a), *b_folder = file_directory(b);
	struct stat a_stat, b_stat;
	const bool are = !strcmp(a_folder, b_folder) ||
			 (!stat(a_folder, &a_stat) && !stat(b_folder, &b_stat) &&
				 a_stat.st_dev == b_stat.st_dev && a_stat.st_ino == b_stat.st_ino);

	free(a_folder);
	free(b_folder);
	return are;
}

bool vfd_runs_differ(const char *a, uint64_t a_run, const char *b, uint64_t b_run)
{
	return a_run && b_run && a_run != b_run && !are_in_one_folder(a, b);
}

static int is_named_vfd(const struct dirent *d)
{
	return strcmp(d->d_name, ".vfd") && text_ends_with(d->d_name, ".vfd");
}

bool vfd_files_in(const char *folder, void (*take)(void *ctx, const char *path), void *ctx)
{
	struct dirent **list;
	const int n = scandir(folder, &list, is_named_vfd, alphasort);

	if (n < 0)
		return false;
	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", folder, list[i]->d_name);

		if (file_begins_with(path, VFD_MAGIC))
			take(ctx, path);
		free(path);
		free(list[i]);
	}
	free(list);
	return true;
}
