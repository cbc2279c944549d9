/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An encoder of Protocol Buffers: fields are appended to a buffer, nested messages are opened and
 * closed. A field whose value is 0 is written, too. A struct protobuf begins as zeros.
 */
#ifndef VFTR_NODEAGENT_EXPORT_PROTOBUF_H
#define VFTR_NODEAGENT_EXPORT_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#define PROTOBUF_DEPTH_MAX 8

struct protobuf {
	unsigned char *bytes;
	size_t n, cap;
	unsigned depth;
	size_t open[PROTOBUF_DEPTH_MAX]; /* where the bytes of each open message begin */
};

/* Frees the buffer, and makes *p zeros. */
void protobuf_free(struct protobuf *p);
/* Empties the buffer; keeps its memory. */
void protobuf_clear(struct protobuf *p);

void protobuf_uint(struct protobuf *p, uint32_t field, uint64_t value); /* also bool and enum */
void protobuf_int(struct protobuf *p, uint32_t field, int64_t value);	/* not for sint64 */
void protobuf_fixed64(struct protobuf *p, uint32_t field, uint64_t value);
/* A '?' stands for each byte that is no UTF-8. */
void protobuf_text(struct protobuf *p, uint32_t field, const char *text);
/* A nested message; at most PROTOBUF_DEPTH_MAX are open, which the caller sees to. */
void protobuf_open(struct protobuf *p, uint32_t field);
void protobuf_close(struct protobuf *p);

#endif
