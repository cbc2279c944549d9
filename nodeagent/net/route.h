/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between agent 0 and all others along a tree (tree.h): if each of N agents sends one,
 * agent 0 receives about log N. The process that has the transport passes them on: the proxy, also
 * for an agent that has died. On the way up, messages wait a while for those of the agents below,
 * and go on together.
 *
 *	up	VERSION, then for each: origin, its number, time left to wait, final, tag, content
 *	down	VERSION, then for each: number, to one agent or to all below one, tag, content
 *	taken	nothing: one of those has come; where deaths are not told of, over MPI
 *
 * An agent may die with messages that it has to pass on. So each agent keeps what it has sent; on
 * the way up, the last message of each agent and tag. If one dies, as the transport tells (gone()),
 * what was sent to it goes to the next living agent towards agent 0, or to the agents below the
 * dead one. Messages have numbers, by which none is taken twice. An agent that is slow
 * (transport.h), or over MPI does not take what it was sent, is passed by as a dead one is until it
 * does, and gets what goes down, too.
 */
#ifndef VFTR_NODEAGENT_NET_ROUTE_H
#define VFTR_NODEAGENT_NET_ROUTE_H

struct transport;

/*
 * Puts the operations to_root, to_all and to_one of struct transport (transport.h) into p, and
 * itself before send, receive and finish of p. For all agents of a job or none. Over TCP the
 * others may still be unknown.
 */
void route_open(struct transport *p);

/* To be called when something may have come or be due: passes messages on. */
void route_attend(struct transport *p);
/* Seconds until route_attend() should be called, also if nothing has come. */
double route_next(const struct transport *p);

#endif
