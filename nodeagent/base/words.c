/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/base/words.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define HEX	"0123456789ABCDEF"

/* Appends a word to the list that ends at `to`; returns its new end. */
static char *put_word(char *to, const char *word)
{
	for (; *word; word++) {
		if (*word == '\n' || *word == '\\')
			*to++ = '\\';
		*to++ = *word == '\n' ? 'n' : *word;
	}
	*to++ = '\n';
	return to;
}

static size_t word_bytes(const char *word)
{
	size_t n = 1;

	for (; *word; word++)
		n += *word == '\n' || *word == '\\' ? 2 : 1;
	return n;
}

char *words_list(char *const *words, size_t most, size_t *left)
{
	char *list = xmalloc(most + 1), *to = list;

	for (; *words && word_bytes(*words) <= most - (size_t)(to - list); words++)
		to = put_word(to, *words);
	*to++ = '\0';
	for (*left = 0; *words; words++)
		++*left;
	return xrealloc(list, (size_t)(to - list));
}

char *words_next(const char **list)
{
	const char *s = *list;
	char *word, *to;

	if (!*s)
		return NULL;
	word = to = xmalloc(strcspn(s, "\n") + 1);
	for (; *s && *s != '\n'; s++) {
		const bool escaped = *s == '\\' && s[1] && s[1] != '\n';

		s += escaped;
		*to++ = escaped && *s == 'n' ? '\n' : *s;
	}
	*to = '\0';
	*list = s + (*s == '\n');
	return word;
}

static void put_for_shell(FILE *f, const char *word)
{
	if (*word && !word[strspn(word, LETTERS "_@%+=:,./-")]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\'", f);
		fputc(*word, f);
	}
	fputc('\'', f);
}

char *words_for_shell(const char *list)
{
	char *text = NULL, *word;
	size_t bytes;
	FILE *f = memory_begin(&text, &bytes);

	for (const char *at = list; (word = words_next(&at)); free(word)) {
		if (ftell(f))
			fputc(' ', f);
		put_for_shell(f, word);
	}
	memory_end(f);
	return text;
}

char *words_escape(const char *text)
{
	char *all = xmalloc(3 * strlen(text) + 1), *to = all;

	for (; *text; text++) {
		const unsigned char c = (unsigned char)*text;

		if (strchr(LETTERS "/._-", c)) {
			*to++ = *text;
			continue;
		}
		*to++ = '%';
		*to++ = HEX[c >> 4];
		*to++ = HEX[c & 15];
	}
	*to = '\0';
	return all;
}

char *words_unescape(const char *text)
{
	char *all = xmalloc(strlen(text) + 1), *to = all;

	for (; *text; text++) {
		const char *high = *text == '%' && text[1] ? strchr(HEX, text[1]) : NULL;
		const char *low = high && text[2] ? strchr(HEX, text[2]) : NULL;
		const char c = low ? (char)((high - HEX) << 4 | (low - HEX)) : '\0';

		*to++ = c ? c : *text;
		text += c ? 2 : 0;
	}
	*to = '\0';
	return all;
}
