/* SPDX-License-Identifier: BSD-3-Clause */
/* Network addresses: those of this machine, those of a name, and their texts. */
#ifndef VFTR_NODEAGENT_ADDRESSES_H
#define VFTR_NODEAGENT_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct contact;

struct addresses {
	size_t n;
	struct sockaddr_storage *at;
};

void addresses_clear(struct addresses *a);

/*
 * Of this machine, without ports: of one network interface, or of all (NULL). False if
 * there is no such interface, or it has none.
 */
bool addresses_own(const char *interface, struct addresses *a);

/*
 * All of a contact, with ports, each once, in its sequence; loopback addresses last. May
 * ask a name server. NULL, or why there are none (a text that stays).
 */
const char *addresses_of(const struct contact *c, struct addresses *a);

/* The same without asking anybody. False, and none, if there are names among the hosts. */
bool addresses_given(const struct contact *c, struct addresses *a);

bool address_is_loopback(const struct sockaddr_storage *s);
/* "All addresses of this machine", for listening. */
bool address_is_any(const struct sockaddr_storage *s);
/* Of IPv6, and means nothing without the name of an interface. */
bool address_is_link_local(const struct sockaddr_storage *s);
/* Without the port. */
bool address_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
unsigned address_port(const struct sockaddr_storage *s);
void address_set_port(struct sockaddr_storage *s, unsigned port);
socklen_t address_bytes(const struct sockaddr_storage *s);
/* "10.0.0.1:8387"; the caller frees. */
char *address_text(const struct sockaddr_storage *s);

#endif
