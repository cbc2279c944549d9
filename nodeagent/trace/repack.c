/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two passes. The first chooses the dictionary: blocks of samples from all over the file, as a loop
 * whose calls fill many blocks repeats itself in other blocks, not in its own. The second packs.
 */
#include "nodeagent/trace/repack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/block.h"
#include "nodeagent/trace/index-entry.h"
#include "nodeagent/trace/packed.h"

#define DICTIONARY_MOST (VFD_BLOCK_MAX - 4096u)
#define INDEX_BYTES	(32u << 10) /* as the writer has it: SHARED_BLOCK_BYTES */
#define BLOCK_ROOM	(VFD_BLOCK_MAX + VFD_ALIGN)

union block_room {
	struct vfd_block block;
	unsigned char bytes[BLOCK_ROOM];
};

struct index_page {
	unsigned char *bytes;
	size_t used;
	uint32_t records;
};

struct repack {
	struct vfd_repack *asked;
	int from;
	FILE *to;
	uint64_t bytes, at; /* of the file that is read */
	uint32_t version;
	struct packer *packer, *new_packer; /* of the old file, and of the new one */
	union block_room *read, *plain, *packed;
	unsigned char *dictionary;
	size_t n_dictionary;
	uint64_t offset, sequence, blocks;
	struct index_page *pages;
	size_t n_pages, cap_pages;
	uint64_t last_offset, last_time; /* in the page */
	struct vfd_end end;
	bool ended;
	char *error;
};

/* ---- writing ------------------------------------------------------------------------------ */

static void fail_repack(struct repack *k, char *why)
{
	if (!k->error)
		k->error = why;
	else
		free(why);
}

static void put_bytes(struct repack *k, const void *bytes, size_t n)
{
	fwrite(bytes, 1, n, k->to);
	k->offset += n;
}

static struct index_page *index_page(struct repack *k)
{
	struct index_page *p = k->n_pages ? &k->pages[k->n_pages - 1] : NULL;

	if (p && p->used <= sizeof(struct vfd_block) + INDEX_BYTES)
		return p;
	p = LIST_ADD(k, pages);
	*p = (struct index_page){
		.bytes = xmalloc(INDEX_BYTES + INDEX_ENTRY + 2 * sizeof(struct vfd_block))};
	p->used = sizeof(struct vfd_block);
	k->last_offset = k->last_time = 0;
	return p;
}

static void add_to_index(struct repack *k, const struct vfd_block *b)
{
	struct index_page *p = index_page(k);

	p->used = (size_t)(index_entry_put(
				   p->bytes + p->used, b, k->offset, k->last_offset, k->last_time) -
			   p->bytes);
	p->records++;
	k->last_offset = k->offset;
	k->last_time = b->time;
	k->blocks++;
}

/* Its payload stands behind it. */
static void put_block(struct repack *k, struct vfd_block *b)
{
	b->sequence = k->sequence++;
	b->crc = 0;
	put_bytes(k, b, vfd_block_seal(b));
}

static void put_index(struct repack *k)
{
	union {
		struct vfd_block block;
		unsigned char bytes[sizeof(struct vfd_block) + sizeof(struct vfd_end) + VFD_ALIGN];
	} end = {.block = {.kind = VFD_BLOCK_END,
			 .track = VFD_NO_TRACK,
			 .bytes = sizeof(struct vfd_end),
			 .records = 1,
			 .time = k->end.time}};

	k->end.index = k->offset;
	k->end.blocks = k->blocks;
	for (size_t i = 0; i < k->n_pages; i++) {
		struct vfd_block *b = (struct vfd_block *)k->pages[i].bytes;

		*b = (struct vfd_block){.kind = VFD_BLOCK_INDEX,
			.track = VFD_NO_TRACK,
			.bytes = (uint32_t)(k->pages[i].used - sizeof(*b)),
			.records = k->pages[i].records};
		put_block(k, b);
	}
	memcpy(end.bytes + sizeof(struct vfd_block), &k->end, sizeof(k->end));
	put_block(k, &end.block);
}

/* ---- reading ------------------------------------------------------------------------------ */

static bool is_there(struct repack *k, uint64_t at, void *bytes, size_t n)
{
	return at <= k->bytes && n <= k->bytes - at && read_at(k->from, bytes, n, at) == n;
}

/* The next block, unpacked, in k->plain. False: the end of the file, or an error. */
static bool next_block(struct repack *k)
{
	struct vfd_block *b = &k->read->block;
	const char *why = "it can't be read";
	bool more = false;
	size_t n;
	long bytes;

	if (k->error || k->at == k->bytes)
		return false;
	n = (size_t)(k->bytes - k->at < VFD_BLOCK_MAX ? k->bytes - k->at : VFD_BLOCK_MAX);
	if (is_there(k, k->at, b, sizeof(*b)) && b->bytes < VFD_BLOCK_MAX &&
		sizeof(*b) + vfd_padded(b->bytes) < n)
		n = sizeof(*b) + vfd_padded(b->bytes);
	n = is_there(k, k->at, b, n) ? vfd_block_check(k->read->bytes, n, &why, &more) : 0;
	k->plain->block = *b;
	if (n && (b->flags & VFD_PACKED)) {
		bytes = packer_unpack(k->packer, k->read->bytes + sizeof(*b), b->bytes,
			k->plain->bytes + sizeof(*b));
		why = "what is packed in it can't be unpacked";
		n = bytes < 0 ? 0 : n;
		k->plain->block.bytes = (uint32_t)bytes;
		k->plain->block.flags &= (uint16_t)~VFD_PACKED;
	} else if (n) {
		memcpy(k->plain->bytes + sizeof(*b), k->read->bytes + sizeof(*b), b->bytes);
	}
	if (n && b->kind == VFD_BLOCK_DICTIONARY &&
		!packer_set_dictionary(
			k->packer, k->plain->bytes + sizeof(*b), k->plain->block.bytes, 0)) {
		why = "its dictionary is none of zstd";
		n = 0;
	}
	if (!n)
		fail_repack(k, xasprintf("it is damaged at byte %" PRIu64 ": %s", k->at, why));
	k->at += n;
	return n;
}

static bool is_of_index(const struct vfd_block *b)
{
	return b->kind == VFD_BLOCK_INDEX || b->kind == VFD_BLOCK_END;
}

/* From the begin of its blocks on. */
static void rewind_blocks(struct repack *k)
{
	k->at = sizeof(struct vfd_preamble);
	packer_set_dictionary(k->packer, NULL, 0, 0);
}

/* ---- the two passes ----------------------------------------------------------------------- */

static void tell_progress(const struct repack *k, double from, double to)
{
	if (k->asked->progress)
		k->asked->progress(
			k->asked->ctx, from + (to - from) * (double)k->at / (double)k->bytes);
}

/* All samples if they are few, else blocks that are as far from each other as need be. */
static void choose_dictionary(struct repack *k)
{
	const double part = (double)DICTIONARY_MOST / (double)k->bytes;
	double due = 0;

	rewind_blocks(k);
	while (next_block(k)) {
		const struct vfd_block *b = &k->plain->block;

		tell_progress(k, 0, 0.2);
		if (b->kind == VFD_BLOCK_END) {
			k->ended = b->bytes == sizeof(k->end);
			memcpy(&k->end, b + 1, k->ended ? sizeof(k->end) : 0);
		}
		if (b->kind != VFD_BLOCK_SAMPLES || !k->asked->level)
			continue;
		due += part * b->bytes;
		if (due < (double)b->bytes && k->bytes > DICTIONARY_MOST)
			continue;
		if (k->n_dictionary + b->bytes > DICTIONARY_MOST)
			continue;
		due -= b->bytes;
		memcpy(k->dictionary + k->n_dictionary, b + 1, b->bytes);
		k->n_dictionary += b->bytes;
	}
}

/* What follows is packed with it. */
static void put_dictionary(struct repack *k)
{
	struct vfd_block *b = &k->plain->block;

	packer_set_dictionary(k->new_packer, NULL, 0, k->asked->level);
	*b = (struct vfd_block){.kind = VFD_BLOCK_DICTIONARY,
		.track = VFD_NO_TRACK,
		.bytes = (uint32_t)k->n_dictionary,
		.records = 1};
	memcpy(b + 1, k->dictionary, k->n_dictionary);
	if (packer_pack(k->new_packer, b, &k->packed->block))
		b = &k->packed->block;
	add_to_index(k, b);
	put_block(k, b);
	packer_set_dictionary(k->new_packer, k->dictionary, k->n_dictionary, k->asked->level);
}

/* The first one is the header, which stays as it is. */
static void pack_blocks(struct repack *k)
{
	bool first = true;

	rewind_blocks(k);
	while (next_block(k)) {
		struct vfd_block *b = &k->plain->block;

		tell_progress(k, 0.2, 1);
		if (is_of_index(b) || b->kind == VFD_BLOCK_DICTIONARY)
			continue;
		if (k->asked->level && !first && packer_pack(k->new_packer, b, &k->packed->block))
			b = &k->packed->block;
		add_to_index(k, b);
		put_block(k, b);
		if (first && k->asked->level)
			put_dictionary(k);
		first = false;
	}
	if (k->ended)
		put_index(k);
}

/* ---- a file ------------------------------------------------------------------------------- */

/* Of what a file is when nothing is packed: 5 said no more than that something was. */
static uint32_t unpacked_version(uint32_t version)
{
	return version == VFD_VERSION_PACKED ? version - 1 : version;
}

static void begin_repack(struct repack *k)
{
	struct vfd_preamble p;
	struct stat st;

	if (fstat(k->from, &st)) {
		fail_repack(k, xstrdup(strerror(errno)));
		return;
	}
	k->bytes = k->asked->before = (uint64_t)st.st_size;
	if (!is_there(k, 0, &p, sizeof(p)) || memcmp(p.magic, VFD_MAGIC, sizeof(p.magic)))
		fail_repack(k, xstrdup("not a sampling file of vftr"));
	else if (p.byte_order != VFD_BYTE_ORDER)
		fail_repack(k, xstrdup("written on a machine with another byte order"));
	else if (p.version < VFD_VERSION_LEAST || p.version > VFD_VERSION)
		fail_repack(k, xasprintf("format version %u, but this program knows %u to %u",
				       p.version, VFD_VERSION_LEAST, VFD_VERSION));
	if (k->error)
		return;
	k->version = unpacked_version(p.version);
	choose_dictionary(k);
	if (!k->error && !k->ended && !k->asked->unfinished)
		fail_repack(k, xstrdup("it has no end: cut short, or still being written"));
}

static void free_repack(struct repack *k)
{
	for (size_t i = 0; i < k->n_pages; i++)
		free(k->pages[i].bytes);
	free(k->pages);
	free(k->read);
	free(k->plain);
	free(k->packed);
	free(k->dictionary);
	packer_free(k->packer);
	packer_free(k->new_packer);
}

char *vfd_repack(int from, FILE *to, struct vfd_repack *r)
{
	struct repack k = {.asked = r, .from = from, .to = to};
	struct vfd_preamble p = {.magic = VFD_MAGIC, .byte_order = VFD_BYTE_ORDER};

	k.packer = packer_new(&k.error);
	if (!k.packer)
		return k.error;
	k.new_packer = packer_new(&k.error);
	k.read = xmalloc(sizeof(*k.read));
	k.plain = xmalloc(sizeof(*k.plain));
	k.packed = xmalloc(sizeof(*k.packed));
	k.dictionary = xmalloc(DICTIONARY_MOST);
	begin_repack(&k);
	if (!k.error) {
		p.version = r->level ? MAX(k.version, VFD_VERSION_PACKED) : k.version;
		put_bytes(&k, &p, sizeof(p));
		pack_blocks(&k);
	}
	r->after = k.offset;
	free_repack(&k);
	return k.error;
}
