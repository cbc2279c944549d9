/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/html/html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/table.h"
#include "nodeagent/base/util.h"

#define DEPTH_MAX 32

struct html {
	FILE *f;
	const char *open[DEPTH_MAX];
	size_t depth;
};

struct html *html_new(FILE *f)
{
	struct html *h = xcalloc(1, sizeof(*h));

	h->f = f;
	return h;
}

void html_free(struct html *h)
{
	while (h->depth)
		html_close(h);
	free(h);
}

/* ---- text ------------------------------------------------------------------------------ */

void html_escape(FILE *f, const char *text)
{
	static const char *const escapes[256] = {
		['<'] = "&lt;",
		['>'] = "&gt;",
		['&'] = "&amp;",
		['"'] = "&quot;",
		['\''] = "&#39;",
	};
	char *plain = text_plain(text);

	for (const char *s = plain, *end; *s; s = end + 1) {
		end = s + strcspn(s, "<>&\"'");
		if (end > s)
			fwrite(s, 1, (size_t)(end - s), f);
		if (!*end)
			break;
		fputs(escapes[(unsigned char)*end], f);
	}
	free(plain);
}

void html_text(struct html *h, const char *text)
{
	html_escape(h->f, text);
}

void html_format(struct html *h, const char *format, ...)
{
	char *text;
	va_list arguments;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	if (text)
		html_text(h, text);
	free(text);
}

/* ---- elements -------------------------------------------------------------------------- */

static void put_start(struct html *h, const char *element, va_list attributes)
{
	const char *name;

	fputc('<', h->f);
	fputs(element, h->f);
	while ((name = va_arg(attributes, const char *))) {
		const char *value = va_arg(attributes, const char *);

		if (!value)
			continue;
		fputc(' ', h->f);
		fputs(name, h->f);
		fputs("=\"", h->f);
		html_escape(h->f, value);
		fputc('"', h->f);
	}
	fputc('>', h->f);
}

static void push_element(struct html *h, const char *element)
{
	if (h->depth == DEPTH_MAX)
		abort();
	h->open[h->depth++] = element;
}

void html_open(struct html *h, const char *element, ...)
{
	va_list attributes;

	va_start(attributes, element);
	put_start(h, element, attributes);
	va_end(attributes);
	push_element(h, element);
}

static bool is_line(const char *element)
{
	static const char *const lines[] = {"p", "li", "ul", "ol", "tr", "thead", "tbody", "table",
		"section", "details", "div", "svg", "g", "h1", "h2", "h3", "dl", "dd", "nav",
		"head", "body", "html", "summary", "caption", "title"};

	return ANY(i, ARRAY_SIZE(lines), !strcmp(lines[i], element));
}

void html_close(struct html *h)
{
	const char *element = h->open[--h->depth];

	fputs("</", h->f);
	fputs(element, h->f);
	fputs(is_line(element) ? ">\n" : ">", h->f);
}

void html_void(struct html *h, const char *element, ...)
{
	va_list attributes;

	va_start(attributes, element);
	put_start(h, element, attributes);
	va_end(attributes);
	fputc('\n', h->f);
}

void html_element(struct html *h, const char *element, const char *text, ...)
{
	va_list attributes;

	va_start(attributes, text);
	put_start(h, element, attributes);
	va_end(attributes);
	push_element(h, element);
	html_text(h, text);
	html_close(h);
}

/* ---- what is no text ------------------------------------------------------------------- */

void html_own(struct html *h, const char *element, const char *text, size_t bytes)
{
	fprintf(h->f, "<%s>\n", element);
	fwrite(text, 1, bytes, h->f);
	fprintf(h->f, "</%s>\n", element);
}

void html_json(struct html *h, const char *id, const char *text, size_t bytes)
{
	fprintf(h->f, "<script type=\"application/json\" id=\"%s\">\n", id);
	for (size_t i = 0, end; i < bytes; i = end + 1) {
		const char *found = memchr(text + i, '<', bytes - i);

		end = found ? (size_t)(found - text) : bytes;
		fwrite(text + i, 1, end - i, h->f);
		if (found)
			fputs("\\u003c", h->f);
	}
	fputs("</script>\n", h->f);
}

/* ---- tables ---------------------------------------------------------------------------- */

void html_table(struct html *h, const char *caption)
{
	html_open(h, "div", "class", "wide", "tabindex", "0", "role", "group", "aria-label",
		caption, NULL);
	html_open(h, "table", NULL);
	html_element(h, "caption", caption, NULL);
	html_open(h, "thead", NULL);
	html_open(h, "tr", NULL);
}

void html_head(struct html *h, const char *title, bool is_number)
{
	html_element(h, "th", title, "scope", "col", "class", is_number ? "n" : NULL, NULL);
}

void html_row(struct html *h)
{
	if (!strcmp(h->open[h->depth - 2], "thead")) {
		html_close(h);
		html_close(h);
		html_open(h, "tbody", NULL);
	}
	html_open(h, "tr", NULL);
}

void html_table_end(struct html *h)
{
	while (strcmp(h->open[h->depth - 1], "div"))
		html_close(h);
	html_close(h);
}

void html_cell(struct html *h, const char *text, bool is_head)
{
	char *cut = text_short(text, HTML_TEXT);

	if (is_head && *cut)
		html_element(h, "th", cut, "scope", "row", NULL);
	else
		html_element(h, "td", cut, NULL);
	free(cut);
}

void html_number(struct html *h, const char *exact, const char *shown)
{
	html_open(h, "td", "class", "n", NULL);
	if (exact)
		html_element(h, "data", shown, "value", exact, NULL);
	else
		html_text(h, "----");
	html_close(h);
}
