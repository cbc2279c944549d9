/* SPDX-License-Identifier: BSD-3-Clause */
/* What all libraries of this folder write their functions with. */
#ifndef VFTR_LIBC_INTERPOSE_H
#define VFTR_LIBC_INTERPOSE_H

#define EXPORT	    __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#endif
