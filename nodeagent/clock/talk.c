/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/clock/internal.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <time.h>

#include "nodeagent/clock/ticks.h"

#define US		 1000ll
#define PING_PONGS	 20
#define ENOUGH		 5		/* where they are slow */
#define BURST_NS	 (1000 * US)	/* after so long, enough are enough */
#define ANSWER_NS	 (1000 * US)	/* longer is not waited for an answer */
#define FIRST_PING_NS	 (2000 * US)	/* who asked may still be asleep */
#define LAST_ANSWER_NS	 (50000 * US)	/* the job is over: nobody is disturbed */
#define PATIENT_NS	 (100 * US)	/* longer: the other side may want this very CPU */
#define HARM_NS		 (500 * US)	/* longer: somebody else took it, and kept it */
#define FUTURE_NS	 (1000000 * US) /* a job that begins later is none */
#define FIRST_PAUSE_NS	 (20 * US)
#define LONGEST_PAUSE_NS (250 * US)

enum kind { ASK = 1, READY, PING, PONG, DONE };

struct message {
	uint32_t kind, seq;
	uint32_t number;	   /* of the ping; purpose of ASK; `again` of DONE */
	uint32_t ended;		   /* purpose of DONE */
	int64_t arrived, answered; /* PONG; READY: job_start; ASK: until when, global */
	int64_t offset, error;	   /* PONG: of the server's clock to global time */
};

_Static_assert(sizeof(struct message) <= TRANSPORT_SMALL_MAX, "messages are small");

int64_t clock_talk_now(void)
{
	return (int64_t)clocks_raw_ns();
}

bool clock_talk_rest(const struct clock_talk *t, int64_t *pause)
{
	struct pollfd fds[4];
	struct timespec rest;
	size_t n = t->n_fds < 4 ? t->n_fds : 4;

	for (size_t i = 0; i < n; i++)
		fds[i] = t->fds[i];
	*pause = !*pause			 ? FIRST_PAUSE_NS
		 : 2 * *pause > LONGEST_PAUSE_NS ? LONGEST_PAUSE_NS
						 : 2 * *pause;
	rest = (struct timespec){0, (long)*pause};
	return ppoll(fds, n, &rest, NULL) <= 0;
}

static void post(struct clock_talk *t, int to, int tag, const struct message *m)
{
	/* what does not leave is missed by the other side, which does not wait for long */
	t->transport->post(t->transport, to, tag, m, sizeof(*m));
}

static bool look_for_message(struct clock_talk *t, int from, int tag, struct message *m, int *who)
{
	return !t->transport->look(t->transport, from, tag, m, sizeof(*m), who);
}

/*
 * The CPU is given away between looks only if that is what the other side needs:
 * where two proxies share one. A busy rank that gets it does not give it back soon.
 */
static enum clock_spin after_spin(enum clock_spin spin, int64_t took)
{
	if (spin == SPIN_ONLY || (spin == SPIN_AND_YIELD && took > HARM_NS))
		return SPIN_ONLY;
	return took > PATIENT_NS ? SPIN_AND_YIELD : spin;
}

/* The next message, without sleep; *when it was seen here. */
static bool spin(
	struct clock_talk *t, int from, int tag, struct message *m, int64_t ns, int64_t *when)
{
	int64_t since = clock_talk_now();
	int who;

	for (;;) {
		bool found = look_for_message(t, from, tag, m, &who);

		*when = clock_talk_now();
		if (found || *when - since > ns) {
			t->spin = after_spin(t->spin, *when - since);
			return found;
		}
		if (t->spin == SPIN_AND_YIELD ||
			(t->spin == SPIN_FIRST && *when - since > PATIENT_NS))
			sched_yield();
	}
}

static int64_t answer_ns(enum clock_purpose purpose)
{
	return purpose == CLOCK_LAST ? LAST_ANSWER_NS : ANSWER_NS;
}

/* The asker's side */

/* *start: of the job, as the server says. */
static int wait_until_ready(
	struct clock_talk *t, int server, enum clock_purpose purpose, int64_t until, int64_t *start)
{
	int64_t pause = 0, error, offset = clock_sync_latest(t->sync, until, &error);
	struct message m = {.kind = ASK,
		.seq = ++t->seq,
		.number = purpose,
		.arrived = error == INT64_MAX ? INT64_MAX : until + offset};
	int who;

	t->purpose = purpose;
	post(t, server, TAG_CLOCK_ASK, &m);
	for (;;) {
		while (look_for_message(t, server, TAG_CLOCK_PONG, &m, &who)) {
			if (m.kind != READY || m.seq != t->seq)
				continue;
			*start = m.arrived;
			return 0;
		}
		if (clock_talk_now() >= until)
			return -ETIMEDOUT;
		if (!clock_talk_rest(t, &pause))
			return -EINTR;
	}
}

static size_t ping_pong(struct clock_talk *t, int server, enum clock_purpose purpose,
	struct clock_sync_sample *s, int64_t *offset, int64_t *error)
{
	int64_t since = clock_talk_now();
	size_t n = 0;

	t->spin = SPIN_FIRST;
	while (n < PING_PONGS && (n < ENOUGH || clock_talk_now() - since < BURST_NS)) {
		struct message ping = {.kind = PING, .seq = t->seq, .number = (uint32_t)n}, pong;

		s[n].sent = clock_talk_now();
		post(t, server, TAG_CLOCK_PING, &ping);
		do {
			if (!spin(t, server, TAG_CLOCK_PONG, &pong, answer_ns(purpose), &s[n].back))
				return n;
		} while (pong.kind != PONG || pong.seq != t->seq || pong.number != n);
		s[n].arrived = pong.arrived;
		s[n].answered = pong.answered;
		*offset = pong.offset;
		*error = pong.error;
		n++;
	}
	return n;
}

/* It lies in the past: rounds that begin at one in the future do not come. */
static void take_start(struct clock_talk *t, int64_t start, const struct clock_sync_point *now)
{
	if (t->job_start == CLOCK_TALK_NEVER && clock_sync_is_time(start) &&
		start - now->local <= now->offset + FUTURE_NS)
		t->job_start = start;
}

int clock_talk_ask(struct clock_talk *t, int server, enum clock_purpose purpose, int64_t until,
	struct clock_measure *m)
{
	do {
		struct clock_sync_sample samples[PING_PONGS];
		int64_t offset = 0, error = INT64_MAX, start;
		int failed = wait_until_ready(t, server, purpose, until, &start);
		size_t n;

		if (failed)
			return failed;
		n = ping_pong(t, server, purpose, samples, &offset, &error);
		if (n >= ENOUGH && clock_sync_is_time(offset) && clock_sync_is_time(error) &&
			error >= 0 &&
			clock_sync_measure(samples, n, &m->sync_point, &m->round_trip)) {
			m->sync_point.offset += offset;
			m->sync_point.half_width += error;
			take_start(t, start, &m->sync_point);
			return 0;
		}
	} while (clock_talk_now() < until);
	return -ETIMEDOUT;
}

void clock_talk_done(struct clock_talk *t, int server, bool again)
{
	struct message m = {.kind = DONE, .seq = t->seq, .number = again, .ended = t->purpose};

	post(t, server, TAG_CLOCK_PING, &m);
}

/* The server's side */

/*
 * Between two asks nothing but the rest of the one before can be there. Its last DONE counts,
 * however late this side has got its processor: the asker does not come again.
 */
static struct clock_served ended_late(struct clock_talk *t)
{
	struct clock_served served = {.who = -1};
	struct message m;
	int who;

	while (served.who < 0 && look_for_message(t, TRANSPORT_ANY, TAG_CLOCK_PING, &m, &who))
		if (m.kind == DONE && m.ended == CLOCK_LAST)
			served = (struct clock_served){who, CLOCK_LAST, true, m.number};
	return served;
}

struct clock_served clock_talk_serve(struct clock_talk *t)
{
	struct clock_served served = {.who = -1};
	struct message ask, m, pong = {.kind = PONG};
	int64_t wait = FIRST_PING_NS, seen, now = clock_talk_now();
	int who;

	if (!look_for_message(t, TRANSPORT_ANY, TAG_CLOCK_ASK, &ask, &served.who))
		return ended_late(t);
	while (look_for_message(t, served.who, TAG_CLOCK_ASK, &m, &who))
		ask = m; /* it gave up the one before */
	served.purpose = ask.number;
	pong.offset = clock_sync_latest(t->sync, now, &pong.error);
	/* no use of our clock, or it is not waiting any more */
	if (pong.error == INT64_MAX || now + pong.offset > ask.arrived)
		return served;
	t->spin = SPIN_FIRST;
	if (served.purpose == CLOCK_LAST)
		wait = LAST_ANSWER_NS;
	m = (struct message){.kind = READY, .seq = ask.seq, .arrived = t->job_start};
	post(t, served.who, TAG_CLOCK_PONG, &m);
	while (spin(t, served.who, TAG_CLOCK_PING, &m, wait, &seen)) {
		if (m.seq != ask.seq)
			continue;
		if (m.kind == DONE) {
			served.complete = true;
			served.again = m.number;
			break;
		}
		pong.seq = m.seq;
		pong.number = m.number;
		pong.arrived = seen;
		pong.answered = clock_talk_now();
		post(t, served.who, TAG_CLOCK_PONG, &pong);
		wait = answer_ns(served.purpose);
	}
	return served;
}
