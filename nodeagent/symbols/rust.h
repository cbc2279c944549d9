/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of Rust functions, read from what rustc makes of them: the older way, and v0. */
#ifndef VFTR_NODEAGENT_SYMBOLS_RUST_H
#define VFTR_NODEAGENT_SYMBOLS_RUST_H

#include <stdbool.h>

/*
 * "r::simulation::driver" of "_ZN1r10simulation6driver17h1555eaefff1e5886E", and of
 * "_RNvNtCs6GmmlP4bgsG_1r10simulation6driver"; always without the hash of the crate or of the
 * function. is_short: v0 without generic arguments; the older way has none but in the names of
 * types, where they stay. NULL: this is no such name, or one of which it is not known how to read
 * it. Depth, time and length are bounded. The caller frees.
 */
char *rust_shown(const char *mangled, bool is_short);

#endif
