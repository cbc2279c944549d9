/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile as bytes: the node profile files BASE_HOST.vfp, and the messages
 * between agents. The format is vftr-vfp(5). What is read is not trusted: any
 * bytes give a valid profile or an error, and no more memory is taken than in
 * proportion to the input.
 */
#ifndef VFTR_NODEAGENT_VFP_H
#define VFTR_NODEAGENT_VFP_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define VFP_MAGIC   "VFTRVFP\n"
#define VFP_VERSION 7
#define VFP_SUFFIX  ".vfp"

/* 0 or -ENOMEM; the caller frees *buf. */
int vfp_encode(const struct profile *p, unsigned char **buf, size_t *bytes);

/* NULL on error; then *error says why (caller frees). */
struct profile *vfp_decode(const unsigned char *buf, size_t bytes, char **error);

/* 0 or -errno. The file appears whole or not at all. */
int vfp_write(const struct profile *p, const char *path);

/* NULL on error; then *error is "PATH: why" (caller frees). */
struct profile *vfp_read(const char *path, char **error);
/* Only a regular file of this user, and not through a link: in a directory of others, too. */
struct profile *vfp_read_own(const char *path, char **error);

/* The run that wrote the file; 0: it is not known, or the file is none of this version. */
uint64_t vfp_run(const char *path);

#endif
