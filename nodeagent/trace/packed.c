/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/packed.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/zstd-api.h"

#define LIBRARY	    "libzstd.so.1"
#define BYTES_LEAST 256u /* of a payload that is packed */

struct packer {
	struct zstd_api api;
	struct ZSTD_CCtx_s *packing;
	struct ZSTD_DCtx_s *unpacking;
	struct ZSTD_CDict_s *packing_dictionary;
	struct ZSTD_DDict_s *dictionary;
};

static char *load_library(struct zstd_api *api)
{
	static const struct {
		const char *name;
		size_t at;
	} symbols[] = {
#define ZSTD_SYMBOL(result, name, symbol, parameters) {#symbol, offsetof(struct zstd_api, name)},
		ZSTD_FUNCTIONS(ZSTD_SYMBOL)
#undef ZSTD_SYMBOL
	};
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return xasprintf("zstd's library (%s) can't be loaded; in Debian it is in libzstd1",
			LIBRARY);
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *found = dlsym(library, symbols[i].name);

		if (!found)
			return xasprintf("zstd's library has no function %s", symbols[i].name);
		memcpy((char *)api + symbols[i].at, &found, sizeof(found));
	}
	return NULL;
}

struct packer *packer_new(char **error)
{
	struct packer *p = xcalloc(1, sizeof(*p));

	*error = load_library(&p->api);
	if (*error) {
		free(p);
		return NULL;
	}
	p->packing = p->api.new_packer();
	p->unpacking = p->api.new_unpacker();
	if (!p->packing || !p->unpacking)
		die(125, "out of memory");
	return p;
}

static void free_dictionaries(struct packer *p)
{
	p->api.free_packing_dictionary(p->packing_dictionary);
	p->api.free_dictionary(p->dictionary);
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	free_dictionaries(p);
	p->api.free_packer(p->packing);
	p->api.free_unpacker(p->unpacking);
	free(p);
}

bool packer_set_dictionary(struct packer *p, const void *bytes, size_t n, int level)
{
	free_dictionaries(p);
	p->packing_dictionary = level ? p->api.new_packing_dictionary(bytes, n, level) : NULL;
	p->dictionary = n ? p->api.new_dictionary(bytes, n) : NULL;
	if (level && !p->packing_dictionary)
		die(125, "out of memory");
	return !n || p->dictionary;
}

bool packer_pack(struct packer *p, const struct vfd_block *b, struct vfd_block *to)
{
	unsigned char *payload = (unsigned char *)(to + 1);
	const size_t room = b->bytes - b->bytes / 16;
	size_t n;

	if (b->bytes < BYTES_LEAST)
		return false;
	n = p->api.pack(p->packing, payload + sizeof(b->bytes), room, b + 1, b->bytes,
		p->packing_dictionary);
	if (p->api.is_error(n)) /* no room */
		return false;
	*to = *b;
	to->flags |= VFD_PACKED;
	to->bytes = (uint32_t)(sizeof(b->bytes) + n);
	memcpy(payload, &b->bytes, sizeof(b->bytes));
	return true;
}

long packer_length(const unsigned char *payload, size_t n)
{
	uint32_t bytes;

	if (n < sizeof(bytes))
		return -1;
	memcpy(&bytes, payload, sizeof(bytes));
	return bytes <= VFD_BLOCK_MAX - sizeof(struct vfd_block) ? (long)bytes : -1;
}

long packer_unpack(struct packer *p, const unsigned char *payload, size_t n, unsigned char *buf)
{
	const long bytes = packer_length(payload, n);
	size_t unpacked;

	if (bytes < 0)
		return -1;
	unpacked = p->api.unpack(p->unpacking, buf, (size_t)bytes, payload + sizeof(uint32_t),
		n - sizeof(uint32_t), p->dictionary);
	return unpacked == (size_t)bytes ? bytes : -1;
}
