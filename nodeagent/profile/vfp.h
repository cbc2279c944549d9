/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A profile as bytes: the node profile files BASE_HOST.vfp, and the messages
 * between agents, in the format of vftr-vfp(5). The input is not trusted: any
 * bytes give a valid profile or an error, and take memory in proportion to
 * their number.
 */
#ifndef VFTR_NODEAGENT_PROFILE_VFP_H
#define VFTR_NODEAGENT_PROFILE_VFP_H

#include <stddef.h>
#include <stdint.h>

struct profile;

#define VFP_MAGIC	  "VFTRVFP\n"
#define VFP_VERSION	  8 /* is written */
#define VFP_VERSION_LEAST 7 /* ... and this to that are read */
#define VFP_SUFFIX	  ".vfp"

/* 0 or -ENOMEM; the caller frees *buf. */
int vfp_encode(const struct profile *p, unsigned char **buf, size_t *bytes);

/* The same behind `room' bytes that are left as they are, for a head; *bytes has them, too. */
int vfp_encode_behind(const struct profile *p, size_t room, unsigned char **buf, size_t *bytes);

/* NULL on error; then *error says why (caller frees), otherwise it is NULL. */
struct profile *vfp_decode(const unsigned char *buf, size_t bytes, char **error);

/* 0 or -errno. The file appears completely or not at all. */
int vfp_write(const struct profile *p, const char *path);

/* NULL on error; then *error is "PATH: why" (caller frees). */
struct profile *vfp_read(const char *path, char **error);
/* Reads only a regular file of this user, and not through a link: safe in others' directories. */
struct profile *vfp_read_own(const char *path, char **error);

/* The number of the run that wrote the file; 0: not known, or not a file of these versions. */
uint64_t vfp_run(const char *path);

#endif
