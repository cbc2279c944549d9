/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/net/tcp/addresses.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "nodeagent/net/tcp/contact.h"
#include "nodeagent/base/util.h"

void addresses_clear(struct addresses *a)
{
	free(a->at);
	*a = (struct addresses){0};
}

socklen_t address_bytes(const struct sockaddr_storage *s)
{
	return s->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

unsigned address_port(const struct sockaddr_storage *s)
{
	return ntohs(s->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)s)->sin6_port
					      : ((const struct sockaddr_in *)s)->sin_port);
}

void address_set_port(struct sockaddr_storage *s, unsigned port)
{
	if (s->ss_family == AF_INET6)
		((struct sockaddr_in6 *)s)->sin6_port = htons((uint16_t)port);
	else
		((struct sockaddr_in *)s)->sin_port = htons((uint16_t)port);
}

bool address_is_loopback(const struct sockaddr_storage *s)
{
	if (s->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)s)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)s)->sin_addr.s_addr) >> 24 == 127;
}

bool address_is_any(const struct sockaddr_storage *s)
{
	if (s->ss_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)s)->sin6_addr);
	return ((const struct sockaddr_in *)s)->sin_addr.s_addr == INADDR_ANY;
}

bool address_is_link_local(const struct sockaddr_storage *s)
{
	return s->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)s)->sin6_addr);
}

bool address_equal(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET6)
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			&((const struct sockaddr_in6 *)b)->sin6_addr, sizeof(struct in6_addr));
	return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
	       ((const struct sockaddr_in *)b)->sin_addr.s_addr;
}

static char *host_text(const struct sockaddr_storage *s)
{
	char host[NI_MAXHOST];
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)s;

	/* an IPv4 address at a socket for both */
	if (s->ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
		const unsigned char *b = six->sin6_addr.s6_addr + 12;

		return xasprintf("%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
	}
	if (getnameinfo((const struct sockaddr *)s, address_bytes(s), host, sizeof(host), NULL, 0,
		    NI_NUMERICHOST))
		return xstrdup("?");
	return xstrdup(host);
}

char *address_text(const struct sockaddr_storage *s)
{
	char *host = host_text(s), *text = contact_address_text(host, address_port(s));

	free(host);
	return text;
}

static void add_address(struct addresses *a, const struct sockaddr *s)
{
	struct sockaddr_storage copy = {0};

	if (s->sa_family != AF_INET && s->sa_family != AF_INET6)
		return;
	memcpy(&copy, s,
		s->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
					 : sizeof(struct sockaddr_in));
	for (size_t i = 0; i < a->n; i++)
		if (address_equal(&a->at[i], &copy) &&
			address_port(&a->at[i]) == address_port(&copy))
			return;
	a->at = xrealloc(a->at, (a->n + 1) * sizeof(*a->at));
	a->at[a->n++] = copy;
}

bool addresses_own(const char *interface, struct addresses *a)
{
	struct ifaddrs *all;

	*a = (struct addresses){0};
	if (getifaddrs(&all))
		return false;
	for (struct ifaddrs *i = all; i; i = i->ifa_next)
		if (i->ifa_addr && (i->ifa_flags & IFF_UP) &&
			(!interface || !strcmp(i->ifa_name, interface)))
			add_address(a, i->ifa_addr);
	freeifaddrs(all);
	return a->n > 0;
}

void addresses_loopback_last(struct addresses *a)
{
	struct addresses sorted = {0};

	for (int loopback = 0; loopback < 2; loopback++)
		for (size_t i = 0; i < a->n; i++)
			if (address_is_loopback(&a->at[i]) == loopback)
				add_address(&sorted, (const struct sockaddr *)&a->at[i]);
	addresses_clear(a);
	*a = sorted;
}

void addresses_add(struct addresses *a, const struct addrinfo *found, unsigned port)
{
	for (; found; found = found->ai_next) {
		struct sockaddr_storage s = {0};

		if (found->ai_addrlen > sizeof(s) ||
			(found->ai_family != AF_INET && found->ai_family != AF_INET6))
			continue;
		memcpy(&s, found->ai_addr, found->ai_addrlen);
		address_set_port(&s, port);
		add_address(a, (const struct sockaddr *)&s);
	}
}

bool addresses_given(const struct contact *c, struct addresses *a)
{
	static const struct addrinfo wanted = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
	struct addrinfo *found;

	*a = (struct addresses){0};
	for (size_t i = 0; i < c->n; i++) {
		if (getaddrinfo(c->at[i].host, NULL, &wanted, &found)) {
			addresses_clear(a);
			return false;
		}
		addresses_add(a, found, c->at[i].port);
		freeaddrinfo(found);
	}
	addresses_loopback_last(a);
	return a->n > 0;
}
