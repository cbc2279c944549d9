/* SPDX-License-Identifier: BSD-3-Clause */
/* Network addresses: of this machine and of names, and their texts. */
#ifndef VFTR_NODEAGENT_NET_TCP_ADDRESSES_H
#define VFTR_NODEAGENT_NET_TCP_ADDRESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct addrinfo;
struct contact;

struct addresses {
	size_t n;
	struct sockaddr_storage *at;
};

void addresses_clear(struct addresses *a);

/*
 * Adds the addresses of this machine, without ports: of one network interface, or of all
 * (NULL). False if there is no such interface, or it has no address.
 */
bool addresses_own(const char *interface, struct addresses *a);

/* Adds the addresses from getaddrinfo() (NULL: none) with this port, without duplicates. */
void addresses_add(struct addresses *a, const struct addrinfo *found, unsigned port);

/* Moves loopback addresses to the end: names often stand for 127.0.1.1, too. */
void addresses_loopback_last(struct addresses *a);

/*
 * The addresses of a contact, with ports, each once, in its order; loopback addresses last. Asks
 * no name server: false, and no addresses, if there are names among the hosts.
 */
bool addresses_given(const struct contact *c, struct addresses *a);

bool address_is_loopback(const struct sockaddr_storage *s);
/* True for the address that means all of this machine, for listening. */
bool address_is_any(const struct sockaddr_storage *s);
/* True for an IPv6 address that needs the name of an interface. */
bool address_is_link_local(const struct sockaddr_storage *s);
/* Compares without the port. */
bool address_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
unsigned address_port(const struct sockaddr_storage *s);
void address_set_port(struct sockaddr_storage *s, unsigned port);
socklen_t address_bytes(const struct sockaddr_storage *s);
/* "10.0.0.1:8387"; the caller frees. */
char *address_text(const struct sockaddr_storage *s);

#endif
