/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The older names of Rust are those of C++ with a hash as the last component and marks for what
 * an identifier of C++ cannot have. Suffixes that LLVM appends tell nothing to a reader, those of
 * clones do.
 */
#include "nodeagent/symbols/rust.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"
#include "nodeagent/symbols/rust-internal.h"

#define TEXT_MOST   (16u << 10)
#define HASH_DIGITS 16
#define HEX_DIGITS  "0123456789abcdef"

/* ---- what is written --------------------------------------------------------------------- */

void rust_write_bytes(struct rust_text *text, const char *s, size_t bytes)
{
	if (text->failed || !bytes)
		return;
	if (text->n + bytes > TEXT_MOST) {
		text->failed = true;
		return;
	}
	if (text->n + bytes > text->cap) {
		text->cap = 2 * (text->n + bytes) + 64;
		text->at = xrealloc(text->at, text->cap);
	}
	memcpy(text->at + text->n, s, bytes);
	text->n += bytes;
}

void rust_write(struct rust_text *text, const char *s)
{
	rust_write_bytes(text, s, strlen(s));
}

void rust_write_character(struct rust_text *text, unsigned c)
{
	char s[16];

	if (c >= ' ' && c < 0x7f)
		snprintf(s, sizeof(s), "%c", (int)c);
	else if (c >= 0xa0 && c < 0x300) /* among those beyond are some that turn the text around */
		snprintf(s, sizeof(s), "%c%c", (int)(0xc0 | c >> 6), (int)(0x80 | (c & 0x3f)));
	else
		snprintf(s, sizeof(s), "\\u{%x}", c);
	rust_write(text, s);
}

/* ---- the older way ----------------------------------------------------------------------- */

static bool is_hash(const char *name, size_t bytes)
{
	return bytes == HASH_DIGITS + 1 && name[0] == 'h' &&
	       strspn(name + 1, HEX_DIGITS) >= HASH_DIGITS;
}

/* The identifier at *at, which is then behind it; its length, or 0: there is none. */
static size_t older_identifier(const char **at)
{
	size_t bytes = 0, left;

	while (isdigit((unsigned char)**at) && bytes <= TEXT_MOST)
		bytes = bytes * 10 + (size_t)(*(*at)++ - '0');
	left = strnlen(*at, bytes);
	for (size_t i = 0; i < left; i++)
		if (!isalnum((unsigned char)(*at)[i]) && !strchr("_$.", (*at)[i]))
			return 0;
	return left == bytes && bytes <= TEXT_MOST ? bytes : 0;
}

/* What "LT" between two dollars stands for. False: nothing. */
static bool write_mark(struct rust_text *text, const char *s, size_t bytes)
{
	static const struct {
		char mark[4], shown[2];
	} marks[] = {{"SP", "@"}, {"BP", "*"}, {"RF", "&"}, {"LT", "<"}, {"GT", ">"}, {"LP", "("},
		{"RP", ")"}, {"C", ","}};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (strlen(marks[i].mark) == bytes && !memcmp(s, marks[i].mark, bytes)) {
			rust_write(text, marks[i].shown);
			return true;
		}
	}
	if (bytes < 2 || bytes > 7 || s[0] != 'u' || strspn(s + 1, HEX_DIGITS) != bytes - 1)
		return false;
	rust_write_character(text, (unsigned)strtoul(s + 1, NULL, 16));
	return true;
}

/* One component with its marks and ".." in place of "::". A mark nobody knows stays. */
static void older_component(struct rust_text *text, const char *s, size_t bytes)
{
	const char *end = s + bytes, *close;

	if (bytes >= 2 && s[0] == '_' && s[1] == '$')
		s++;
	while (s < end) {
		if (end - s >= 2 && s[0] == '.' && s[1] == '.') {
			rust_write(text, "::");
			s += 2;
			continue;
		}
		close = *s == '$' ? memchr(s + 1, '$', (size_t)(end - s) - 1) : NULL;
		if (close && write_mark(text, s + 1, (size_t)(close - s) - 1))
			s = close + 1;
		else
			rust_write_bytes(text, s++, 1);
	}
}

/* True: it is one with a hash, and *end is behind it. */
static bool older(struct rust_text *text, const char *mangled, const char **end)
{
	const char *at = mangled;
	bool has_hash = false;
	size_t bytes;

	while (bytes = older_identifier(&at), bytes) {
		has_hash = text->n && at[bytes] == 'E' && is_hash(at, bytes);
		if (!has_hash) {
			rust_write(text, text->n ? "::" : "");
			older_component(text, at, bytes);
		}
		at += bytes;
	}
	*end = at + 1;
	return has_hash && *at == 'E';
}

/* ---- either ------------------------------------------------------------------------------ */

/* What is behind the name: nothing, or that of a compiler's. */
static bool may_be_suffix(const char *s)
{
	if (*s && *s != '.')
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("_$.", *s))
			return false;
	return true;
}

char *rust_shown(const char *mangled, bool is_short)
{
	struct rust_text text = {.at = NULL};
	const char *end = "";
	char *name = NULL;
	bool is_one = false, is_clone;

	if (!strncmp(mangled, "_ZN", 3))
		is_one = older(&text, mangled + 3, &end);
	else if (!strncmp(mangled, "_R", 2))
		is_one = rust_v0(&text, mangled + 2, is_short, &end);
	if (is_one && !text.failed && text.n && may_be_suffix(end)) {
		is_clone = *end && strncmp(end, ".llvm.", 6) != 0;
		name = xasprintf("%.*s%s%s%s", (int)text.n, text.at, is_clone ? " [clone " : "",
			is_clone ? end : "", is_clone ? "]" : "");
	}
	free(text.at);
	return name;
}
