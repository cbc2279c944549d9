/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where an agent can be reached, in one word without blanks:
 *
 *	CONTACT  = ADDRESS {"+" ADDRESS} ["/" SESSION]
 *	ADDRESS  = HOST [":" PORT]          HOST: a name, 10.0.0.1, or [fe80::1%eth0]
 *	CONTACTS = CONTACT {"," CONTACT}    or "@FILE": one or more in each line, # comments
 *
 * The addresses of one contact are those of one agent, to be tried in this sequence.
 * SESSION is the name under which processes on that node find it.
 */
#ifndef VFTR_NODEAGENT_CONTACT_H
#define VFTR_NODEAGENT_CONTACT_H

#include <stddef.h>
#include <stdint.h>

#define CONTACT_PORT	      8387 /* where none is given */
#define CONTACT_ADDRESSES_MAX 16
#define CONTACTS_MAX	      4096
#define CONTACT_BYTES_MAX     2048 /* of one, as text */

struct contact_address {
	char *host; /* without brackets */
	uint16_t port;
};

struct contact {
	size_t n;
	struct contact_address at[CONTACT_ADDRESSES_MAX];
	char *session; /* or NULL */
	char *text;    /* as it was given */
};

struct contacts {
	size_t n;
	struct contact *at;
};

/* 0, or -1 with *error, a sentence that the caller frees; *c is then empty. */
int contact_parse(const char *text, struct contact *c, char **error);
void contact_clear(struct contact *c);

/* Adds those of the text or file to *list. As contact_parse(); *list stays to be cleared. */
int contacts_add(struct contacts *list, const char *text, char **error);
void contacts_clear(struct contacts *list);

/* All of them with commas; the caller frees. */
char *contacts_text(const struct contacts *list);

/* "HOST:PORT", with brackets if there is a colon in host; the caller frees. */
char *contact_address_text(const char *host, unsigned port);

/* To the file, or standard output without one; whoever waits for the file sees all of it or
 * nothing. What fails is said. */
void contact_print(const char *contact, const char *file);

#endif
