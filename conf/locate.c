/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The line of each value of a JSON text, and the cause of each syntax error in
 * words. Strict (RFC 8259), without recursion; open brackets are kept with
 * their lines so that a missing end can be told from where it began.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "conf/internal.h"

struct scan {
	const char *s, *end;
	int line;
	int depth;
	struct {
		char bracket;
		int line;
	} open[CONF_DEPTH];
	struct lines *lines;
	char **why;
};

/* Text from the current position, for a message: up to the end of the word. */
static const char *here(const struct scan *c, char buf[static QUOTE_BYTES])
{
	size_t n = 0, left = (size_t)(c->end - c->s);

	while (n < left && n < 30 &&
		(isalnum((unsigned char)c->s[n]) || strchr("_.+-'", c->s[n])) && c->s[n])
		n++;
	/* a character, however many bytes it has */
	if (n == 0 && left)
		for (n = 1; n < left && (c->s[n] & 0xc0) == 0x80; n++)
			;
	return quoted(buf, c->s, n);
}

/* The next byte after blanks, 0 at the end. A NUL in the text was refused before. */
static char peek(struct scan *c)
{
	while (c->s < c->end && strchr(" \t\r\n", *c->s)) {
		c->line += *c->s == '\n';
		c->s++;
	}
	return c->s < c->end ? *c->s : '\0';
}

static int unexpected(struct scan *c, const char *wanted)
{
	char buf[QUOTE_BYTES], ch = peek(c);

	if (ch == '\0' && c->depth > 0)
		return fail(c->why, "the file ends before the '%c' of line %d is closed",
			c->open[c->depth - 1].bracket, c->open[c->depth - 1].line);
	if (ch == '\0')
		return fail(c->why, "the file ends where %s is expected", wanted);
	if (ch == '#' || (ch == '/' && c->end - c->s > 1 && strchr("/*", c->s[1])))
		return fail(c->why, "JSON has no comments");
	if (ch == '"') {
		const char *s = c->s + 1;
		size_t n = strcspn(s, "\"\n");

		return fail(c->why, "%s is expected, not the string \"%s\"", wanted,
			quoted(buf, s, n < 30 ? n : 30));
	}
	if (ch == '\'')
		return fail(c->why, "%s is expected; JSON has no strings in single quotes", wanted);
	return fail(c->why, "%s is expected, not \"%s\"", wanted, here(c, buf));
}

/* The 4 digits of the \uXXXX at s, or -1. */
static long unit(const struct scan *c, const char *s)
{
	char hex[5] = "";

	if (c->end - s < 6 || s[0] != '\\' || s[1] != 'u')
		return -1;
	memcpy(hex, s + 2, 4);
	return strspn(hex, "0123456789abcdefABCDEF") == 4 ? strtol(hex, NULL, 16) : -1;
}

static bool is_between(long u, long first, long last)
{
	return first <= u && u <= last;
}

static int escape(struct scan *c)
{
	char buf[QUOTE_BYTES];
	long u = unit(c, c->s);

	if (c->end - c->s > 1 && strchr("\"\\/bfnrt", c->s[1])) {
		c->s += 2;
		return 0;
	}
	if (u < 0) {
		c->s++;
		return fail(c->why, "\"\\%s\" is not an escape of JSON", here(c, buf));
	}
	if (u == 0)
		return fail(c->why, "\"\\u0000\" can't be part of a string");
	if (is_between(u, 0xdc00, 0xdfff) ||
		(is_between(u, 0xd800, 0xdbff) && !is_between(unit(c, c->s + 6), 0xdc00, 0xdfff)))
		return fail(c->why, "\"\\u%04lx\" is one half of a character", u);
	c->s += is_between(u, 0xd800, 0xdbff) ? 12 : 6;
	return 0;
}

static int string(struct scan *c)
{
	for (c->s++; c->s < c->end && *c->s != '"';) {
		if (*c->s == '\\') {
			if (escape(c) < 0)
				return -1;
		} else if (*c->s == '\n') {
			return fail(c->why, "the string is not closed on its line");
		} else if ((unsigned char)*c->s < 0x20) {
			return fail(c->why, "a string holds the control character \\x%02x",
				(unsigned char)*c->s);
		} else {
			c->s++;
		}
	}
	if (c->s == c->end)
		return fail(c->why, "the file ends inside a string");
	c->s++;
	return 0;
}

static const char *digits(const char *s)
{
	while (*s >= '0' && *s <= '9')
		s++;
	return s;
}

/* End of the number at s, or NULL. */
static const char *number_end(const char *s)
{
	const char *p = s + (*s == '-'), *q = digits(p);

	if (q == p || (*p == '0' && q > p + 1))
		return NULL;
	if (*q == '.') {
		p = q + 1;
		q = digits(p);
		if (q == p)
			return NULL;
	}
	if (*q == 'e' || *q == 'E') {
		p = q + 1 + (q[1] == '+' || q[1] == '-');
		q = digits(p);
		if (q == p)
			return NULL;
	}
	return q;
}

static bool ends_word(char c)
{
	return !isalnum((unsigned char)c) && !strchr("_.+-", c ? c : ' ');
}

/* A number, true, false or null. */
static int plain(struct scan *c)
{
	static const char *const words[] = {"true", "false", "null"};
	const char *end = NULL;
	char buf[QUOTE_BYTES];

	for (size_t i = 0; i < 3 && !end; i++)
		if (strncmp(c->s, words[i], strlen(words[i])) == 0)
			end = c->s + strlen(words[i]);
	if (!end && (*c->s == '-' || isdigit((unsigned char)*c->s)))
		end = number_end(c->s);
	if (end && ends_word(*end)) {
		c->s = end;
		return 0;
	}
	if (*c->s == '-' || isdigit((unsigned char)*c->s))
		return fail(c->why, "\"%s\" is not a number of JSON", here(c, buf));
	if (isalpha((unsigned char)*c->s))
		return fail(c->why, "\"%s\" is not a value of JSON; strings stand in \"\"",
			here(c, buf));
	return unexpected(c, "a value");
}

static int note(struct scan *c, int key_line)
{
	struct lines *l = c->lines;

	if (l->n == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 128;
		void *p = realloc(l->at, cap * sizeof(*l->at));

		if (!p)
			return -1;
		l->at = p;
		l->cap = cap;
	}
	l->at[l->n].key = key_line ? key_line : c->line;
	l->at[l->n++].value = c->line;
	return 0;
}

static int open_bracket(struct scan *c)
{
	if (c->depth == CONF_DEPTH)
		return fail(c->why, "brackets are nested deeper than %d", CONF_DEPTH);
	c->open[c->depth].bracket = *c->s++;
	c->open[c->depth++].line = c->line;
	return 0;
}

/* A member's name and colon, if the innermost bracket wants one. */
static int key(struct scan *c, int *key_line)
{
	*key_line = 0;
	if (c->depth == 0 || c->open[c->depth - 1].bracket != '{')
		return 0;
	if (peek(c) != '"')
		return unexpected(c, "a key in \"\"");
	*key_line = c->line;
	if (string(c) < 0)
		return -1;
	if (peek(c) != ':')
		return unexpected(c, "a ':' after the key");
	c->s++;
	return 0;
}

/* Scans after a value: closing brackets, then a comma. 1: a value follows. */
static int after_value(struct scan *c)
{
	while (c->depth > 0) {
		bool object = c->open[c->depth - 1].bracket == '{';
		char ch = peek(c);

		if (ch == ',') {
			c->s++;
			ch = peek(c);
			if (ch == '}' || ch == ']')
				return fail(c->why, "there is a ',' too many before the '%c'", ch);
			return 1;
		}
		if (ch == '"' || ch == '{' || ch == '[')
			return fail(c->why, "a ',' is missing before this %s",
				ch == '"' && object ? "key" : "value");
		if (ch != (object ? '}' : ']'))
			return unexpected(c, object ? "a ',' or '}'" : "a ',' or ']'");
		c->s++;
		c->depth--;
	}
	return 0;
}

static int value(struct scan *c)
{
	int key_line;
	char ch;

	if (key(c, &key_line) < 0)
		return -1;
	ch = peek(c);
	if (note(c, key_line) < 0)
		return -1;
	if (ch == '{' || ch == '[') {
		if (open_bracket(c) < 0)
			return -1;
		if (peek(c) != (ch == '{' ? '}' : ']'))
			return 1;
	} else if ((ch == '"' ? string(c) : plain(c)) < 0) {
		return -1;
	}
	return after_value(c);
}

int lines_scan(struct lines *l, const char *text, size_t bytes, int *line, char **why)
{
	struct scan c = {.s = text, .end = text + bytes, .line = 1, .lines = l, .why = why};
	size_t good = utf8_span(text, bytes);
	int more;

	*line = 1;
	if (good < bytes) {
		for (size_t i = 0; i < good; i++)
			*line += text[i] == '\n';
		return fail(why, "the byte \\x%02x is not text (UTF-8)", (unsigned char)text[good]);
	}
	if (peek(&c) == '\0') {
		*line = c.line;
		return fail(why, "the file is empty; {} is the least");
	}
	do
		more = value(&c);
	while (more > 0);
	if (more == 0 && peek(&c) != '\0') {
		char buf[QUOTE_BYTES];

		more = fail(
			why, "\"%s\" stands behind the end of the configuration", here(&c, buf));
	}
	*line = c.line;
	return more;
}

/* valueint is of no use to us (valuedouble has the number): it holds the index. */
static bool bind(const struct lines *l, cJSON *item, size_t *i)
{
	if (*i >= l->n)
		return false;
	item->valueint = (int)(*i)++;
	for (cJSON *child = item->child; child; child = child->next)
		if (!bind(l, child, i))
			return false;
	return true;
}

bool lines_bind(const struct lines *l, cJSON *root)
{
	size_t i = 0;

	return bind(l, root, &i) && i == l->n;
}

int line_of_key(const struct lines *l, const cJSON *item)
{
	return l->at[item->valueint].key;
}

int line_of_value(const struct lines *l, const cJSON *item)
{
	return l->at[item->valueint].value;
}

void lines_free(struct lines *l)
{
	free(l->at);
	*l = (struct lines){0};
}
