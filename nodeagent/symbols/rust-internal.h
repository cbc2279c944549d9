/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading a mangled Rust name: what rust.c and rust-v0.c share. */
#ifndef VFTR_NODEAGENT_SYMBOLS_RUST_INTERNAL_H
#define VFTR_NODEAGENT_SYMBOLS_RUST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

struct rust_text {
	char *at; /* not terminated */
	size_t n, cap;
	bool failed; /* it stays so: it became too long */
};

void rust_write_bytes(struct rust_text *text, const char *s, size_t bytes);
void rust_write(struct rust_text *text, const char *s);
/* A character as UTF-8, or \u{...} if it is none that can be shown. */
void rust_write_character(struct rust_text *text, unsigned c);

/*
 * What is between "_R" and a suffix. True: `text` has its readable form, and *end is behind it.
 */
bool rust_v0(struct rust_text *text, const char *mangled, bool is_short, const char **end);

#endif
