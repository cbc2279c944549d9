/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A contact says where an agent can be reached, in one word without blanks:
 *
 *	CONTACT  = ADDRESS {"+" ADDRESS} ["/" SESSION]
 *	ADDRESS  = HOST [":" PORT]          HOST: a name, 10.0.0.1, or [fe80::1%eth0]
 *	CONTACTS = CONTACT {"," CONTACT}    or "@FILE": one or more in each line, # comments
 *
 * The addresses of one contact belong to one agent, and are tried in this order.
 * SESSION is the name under which processes on that node find it.
 */
#ifndef VFTR_NODEAGENT_NET_TCP_CONTACT_H
#define VFTR_NODEAGENT_NET_TCP_CONTACT_H

#include <stddef.h>
#include <stdint.h>

#define CONTACT_PORT	      8387 /* where none is given */
#define CONTACT_ADDRESSES_MAX 16
#define CONTACTS_MAX	      65536
#define CONTACT_BYTES_MAX     2048 /* of one, as text */

struct contact_address {
	char *host; /* without brackets */
	uint16_t port;
};

struct contact {
	size_t n;
	struct contact_address *at;
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

/* Adds the contacts of a text or "@FILE" to *list. As contact_parse(), but *list is kept. */
int contacts_add(struct contacts *list, const char *text, char **error);
void contacts_clear(struct contacts *list);

/* All contacts, with commas between; the caller frees. */
char *contacts_text(const struct contacts *list);

/* "HOST:PORT", with brackets if there is a colon in host; the caller frees. */
char *contact_address_text(const char *host, unsigned port);

/* Writes it to the file, which appears complete or not at all, or to standard output if file
 * is NULL. Complains on errors. */
void contact_print(const char *contact, const char *file);

#endif
