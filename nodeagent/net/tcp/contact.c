/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/tcp/contact.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/base/util.h"

/* NULL, or a text why it is no port. */
static const char *parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long n;

	*port = CONTACT_PORT;
	if (!text)
		return NULL;
	errno = 0;
	n = strtoul(text, &end, 10);
	if (!isdigit((unsigned char)text[0]) || *end || errno || n < 1 || n > 65535)
		return "a port is a number from 1 to 65535";
	*port = (uint16_t)n;
	return NULL;
}

static const char *parse_address(char *text, struct contact_address *a)
{
	char *host = text, *port = NULL, *end;

	if (text[0] == '[') {
		host = text + 1;
		end = strchr(host, ']');
		if (!end)
			return "there is no ] after [";
		if (end[1] && end[1] != ':')
			return "after ] comes : and a port";
		port = end[1] ? end + 2 : NULL;
		*end = '\0';
	} else {
		end = strchr(text, ':');
		if (end && strchr(end + 1, ':'))
			return "an IPv6 address stands in [ ]";
		if (end) {
			*end = '\0';
			port = end + 1;
		}
	}
	if (!host[0])
		return "a host is missing";
	if (strlen(host) > 255)
		return "a host has at most 255 letters";
	a->host = xstrdup(host);
	return parse_port(port, &a->port);
}

static const char *parse_addresses(char *text, struct contact *c)
{
	char *session = strchr(text, '/'), *save = NULL;
	const char *why = NULL;
	size_t addresses = 1;

	if (session) {
		*session++ = '\0';
		if (!session[0] || strchr(session, '/') || strlen(session) > 255)
			return "after / comes the name of a session, without another /";
		c->session = xstrdup(session);
	}
	for (const char *p = text; *p; p++)
		addresses += *p == '+';
	c->at = xcalloc(addresses < CONTACT_ADDRESSES_MAX ? addresses : CONTACT_ADDRESSES_MAX,
		sizeof(*c->at));
	for (char *a = strtok_r(text, "+", &save); a && !why; a = strtok_r(NULL, "+", &save)) {
		if (c->n == CONTACT_ADDRESSES_MAX)
			return "it has more than 16 addresses";
		c->n++;
		why = parse_address(a, &c->at[c->n - 1]);
	}
	return why ? why : c->n == addresses ? NULL : "an address is missing";
}

int contact_parse(const char *text, struct contact *c, char **error)
{
	const char *why = NULL;
	char *copy;

	*error = NULL;
	memset(c, 0, sizeof(*c));
	if (strlen(text) > CONTACT_BYTES_MAX) {
		*error = xasprintf("contact `%.40s...': it is longer than %d letters", text,
			CONTACT_BYTES_MAX);
		return -1;
	}
	for (const char *p = text; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || *p == ',')
			why = "it has no blanks and no commas";
	if (text[0] == '@')
		why = "only a whole list can be that of a file";
	copy = xstrdup(text);
	if (!why)
		why = parse_addresses(copy, c);
	free(copy);
	if (why) {
		contact_clear(c);
		*error = xasprintf("contact `%s': %s", text, why);
		return -1;
	}
	c->text = xstrdup(text);
	return 0;
}

void contact_clear(struct contact *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->at[i].host);
	free(c->at);
	free(c->session);
	free(c->text);
	memset(c, 0, sizeof(*c));
}

static int add_words(struct contacts *list, char *line, char **error)
{
	char *save = NULL;

	for (char *w = strtok_r(line, ", \t\r\n", &save); w;
		w = strtok_r(NULL, ", \t\r\n", &save)) {
		struct contact c;

		if (list->n == CONTACTS_MAX) {
			*error = xasprintf(
				"`%s' is one contact more than the most, %d", w, CONTACTS_MAX);
			return -1;
		}
		if (contact_parse(w, &c, error))
			return -1;
		if (!(list->n & (list->n - 1))) /* a power of two: it is full */
			list->at = xrealloc(list->at, 2 * (list->n + 1) * sizeof(*list->at));
		list->at[list->n++] = c;
	}
	return 0;
}

static int add_file(struct contacts *list, const char *path, char **error)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, before = list->n;
	int failed = 0;

	if (!f) {
		*error = xasprintf("the list of contacts %s: %s", path, strerror(errno));
		return -1;
	}
	while (!failed && getline(&line, &room, f) > 0) {
		char *why = NULL;

		line[strcspn(line, "#")] = '\0';
		failed = add_words(list, line, &why);
		if (failed) {
			*error = xasprintf("%s: %s", path, why);
			free(why);
		}
	}
	if (!failed && (ferror(f) || list->n == before)) {
		*error = xasprintf("%s: %s", path,
			ferror(f) ? "it can't be read" : "there is no contact in it");
		failed = -1;
	}
	free(line);
	fclose(f);
	return failed;
}

int contacts_add(struct contacts *list, const char *text, char **error)
{
	size_t before = list->n;
	char *copy;
	int failed;

	*error = NULL;
	if (text[0] == '@')
		return add_file(list, text + 1, error);
	copy = xstrdup(text);
	failed = add_words(list, copy, error);
	free(copy);
	if (!failed && list->n == before) {
		*error = xstrdup("a list of contacts is empty");
		failed = -1;
	}
	return failed;
}

void contacts_clear(struct contacts *list)
{
	for (size_t i = 0; i < list->n; i++)
		contact_clear(&list->at[i]);
	free(list->at);
	*list = (struct contacts){0};
}

char *contacts_text(const struct contacts *list)
{
	size_t bytes = 1;
	char *text, *end;

	for (size_t i = 0; i < list->n; i++)
		bytes += strlen(list->at[i].text) + 1;
	end = text = xcalloc(1, bytes);
	for (size_t i = 0; i < list->n; i++) {
		if (i)
			*end++ = ',';
		end = stpcpy(end, list->at[i].text);
	}
	return text;
}

char *contact_address_text(const char *host, unsigned port)
{
	return strchr(host, ':') ? xasprintf("[%s]:%u", host, port)
				 : xasprintf("%s:%u", host, port);
}

void contact_print(const char *contact, const char *file)
{
	FILE *f = stdout;
	struct writing *tmp;
	int error;

	if (!file) {
		printf("%s\n", contact);
		fflush(stdout);
		return;
	}
	error = write_begin(&f, &tmp, file);
	if (!error) {
		fprintf(f, "%s\n", contact);
		error = write_end(f, tmp);
	}
	if (error)
		complain("--print-contact: %s: %s", file, strerror(-error));
}
