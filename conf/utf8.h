/* SPDX-License-Identifier: BSD-3-Clause */
/* One character of UTF-8 at a time; defined in text.c. */
#ifndef VFTR_CONF_UTF8_H
#define VFTR_CONF_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of the character at text, its code point in *code. 0 at the end of the
 * text and where there is no valid character.
 */
size_t utf8_length(const char *text, uint32_t *code);

/*
 * False for what a reader does not see, or which changes what he sees of the rest: controls,
 * marks that turn the direction of writing, characters without width, ends of lines.
 */
bool utf8_is_visible(uint32_t code);

#endif
