/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of zstd's interface that packed blocks need. The library is loaded when there are
 * some, and is not needed to build, so this header has its prototypes, those of zstd 1.4 and
 * later. A test compares them with zstd.h.
 */
#ifndef VFTR_NODEAGENT_TRACE_ZSTD_API_H
#define VFTR_NODEAGENT_TRACE_ZSTD_API_H

#include <stddef.h>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ZSTD_CDict_s;
struct ZSTD_DDict_s;

#define ZSTD_LEVEL_MOST 19

/* result, our name, its name, parameters */
#define ZSTD_FUNCTIONS(_)                                                                          \
	_(struct ZSTD_CCtx_s *, new_packer, ZSTD_createCCtx, (void))                               \
	_(size_t, free_packer, ZSTD_freeCCtx, (struct ZSTD_CCtx_s *))                              \
	_(struct ZSTD_DCtx_s *, new_unpacker, ZSTD_createDCtx, (void))                             \
	_(size_t, free_unpacker, ZSTD_freeDCtx, (struct ZSTD_DCtx_s *))                            \
	_(struct ZSTD_CDict_s *, new_packing_dictionary, ZSTD_createCDict,                         \
		(const void *, size_t, int))                                                       \
	_(size_t, free_packing_dictionary, ZSTD_freeCDict, (struct ZSTD_CDict_s *))                \
	_(struct ZSTD_DDict_s *, new_dictionary, ZSTD_createDDict, (const void *, size_t))         \
	_(size_t, free_dictionary, ZSTD_freeDDict, (struct ZSTD_DDict_s *))                        \
	_(size_t, pack, ZSTD_compress_usingCDict,                                                  \
		(struct ZSTD_CCtx_s *, void *, size_t, const void *, size_t,                       \
			const struct ZSTD_CDict_s *))                                              \
	_(size_t, unpack, ZSTD_decompress_usingDDict,                                              \
		(struct ZSTD_DCtx_s *, void *, size_t, const void *, size_t,                       \
			const struct ZSTD_DDict_s *))                                              \
	_(unsigned, is_error, ZSTD_isError, (size_t))

struct zstd_api {
#define ZSTD_MEMBER(result, name, symbol, parameters) result(*name) parameters;
	ZSTD_FUNCTIONS(ZSTD_MEMBER)
#undef ZSTD_MEMBER
};

#endif
