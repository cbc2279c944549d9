/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/run.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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
