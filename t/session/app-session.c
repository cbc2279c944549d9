/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of a session that does what its arguments say, in this sequence:
 *	app-session NAME STEP...
 * A STEP is WORD[=VALUE...]; each prints "NAME: WORD CODE", and what it has got or the
 * error. Communicators: w, s, p (world, self, parent), n (the last new one). FILEs in which
 * others leave something are waited for.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef DYNAMIC
#include "vftrace-dynamic.h"
#else
#include "vftrace-session.h"
#endif

#define WAIT_S 180

static const char *name;
static int newest = VFTRACE_COMM_INVALID;
static char *value[8]; /* of the step at hand */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_s(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	nanosleep(&t, NULL);
}

static const char *text(int i)
{
	return value[i] ? value[i] : "";
}

static int number(int i)
{
	return atoi(text(i));
}

static double seconds(int i)
{
	return value[i] ? atof(value[i]) : 60;
}

static int comm(int i)
{
	switch (text(i)[0]) {
	case 'w':
		return VFTRACE_COMM_WORLD;
	case 's':
		return VFTRACE_COMM_SELF;
	case 'p':
		return VFTRACE_COMM_PARENT;
	case 'n':
		return newest;
	}
	return number(i);
}

/* The word in a file, as soon as it is there. */
static char *read_file(const char *path)
{
	double until = now() + WAIT_S;
	char line[4096];
	FILE *f;

	while (!(f = fopen(path, "r"))) {
		if (now() > until) {
			printf("%s: no %s\n", name, path);
			exit(9);
		}
		pause_s(0.005);
	}
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	line[strcspn(line, "\n")] = '\0';
	return strdup(line);
}

static void write_file(const char *path, const char *words)
{
	char tmp[4096];
	FILE *f;

	snprintf(tmp, sizeof(tmp), "%s.%d", path, (int)getpid());
	f = fopen(tmp, "w");
	if (!f)
		exit(9);
	fprintf(f, "%s\n", words);
	fclose(f);
	rename(tmp, path);
}

static void say(const char *word, int code)
{
	int rank = -1, size = -1;

	if (code)
		printf("%s: %s %d %s\n", name, word, code, vftrace_last_error());
	else if (strstr(word, "start") || strstr(word, "test"))
		printf("%s: %s 0 %d/%d round %d\n", name, word,
			vftrace_comm_rank(VFTRACE_COMM_WORLD, &rank) ? -1 : rank,
			vftrace_comm_size(VFTRACE_COMM_WORLD, &size) ? -1 : size, vftrace_round());
	else if (!strcmp(word, "create") || !strcmp(word, "attach"))
		printf("%s: %s 0 %d/%d\n", name, word, vftrace_comm_rank(newest, &rank) ? -1 : rank,
			vftrace_comm_size(newest, &size) ? -1 : size);
	else
		printf("%s: %s 0\n", name, word);
	fflush(stdout);
}

static int join(void)
{
	const char *contact = NULL;
	char path[300], *theirs = NULL, *with = NULL;
	int code;

	if (value[2]) {
		theirs = read_file(value[2]);
		with = malloc(strlen(theirs) + 3);
		sprintf(with, "%s%s", value[1], theirs);
		contact = with;
	}
	code = vftrace_join(text(0)[0] ? number(0) : -1, name, &contact);
	if (!code) {
		snprintf(path, sizeof(path), "%s.contact", name);
		write_file(path, contact);
	}
	return code;
}

static int expect(void)
{
	const char *contacts[64];
	char *save = NULL;
	int n = 0;

	for (char *f = value[1] ? strtok_r(value[1], ",", &save) : NULL; f && n < 64;
		f = strtok_r(NULL, ",", &save))
		contacts[n++] = read_file(f);
	return vftrace_expect(number(0), n, contacts);
}

static int create(void)
{
	int ranks[1024], n = 0;
	char *save = NULL;

	for (char *r = strtok_r(value[1], ",", &save); r && n < 1024;
		r = strtok_r(NULL, ",", &save))
		ranks[n++] = atoi(r);
	return vftrace_comm_create(comm(0), n, ranks, seconds(2), &newest);
}

static int children(void)
{
	const char *contact;
	int code = vftrace_children(&contact);

	if (!code)
		write_file(text(0), contact);
	return code;
}

static int test(void)
{
	double until = now() + seconds(0);
	int done = 0, code;

	while (!(code = vftrace_test(&done)) && !done && now() < until)
		pause_s(0.002);
	return done ? code : -1;
}

/* Each rank to the next one, and from the one before. */
static int ring(void)
{
	int c = comm(0), rank, size, code = vftrace_comm_rank(c, &rank);

	if (code || (code = vftrace_comm_size(c, &size)))
		return code;
	for (int i = 0; i < number(1) && !code; i++) {
		code = vftrace_log_send(c, (rank + 1) % size, 7, 64);
		if (!code)
			code = vftrace_log_receive(c, (rank + size - 1) % size, 7, 64);
	}
	return code;
}

static void *abort_later(void *arg)
{
	double *s = arg;

	pause_s(*s);
	printf("%s: abort %d\n", name, vftrace_abort());
	return NULL;
}

static int abort_after(void)
{
	static double s;
	pthread_t t;

	s = seconds(0);
	return pthread_create(&t, NULL, abort_later, &s);
}

static int states(void)
{
	int c, s, l, code = vftrace_class("class", &c);

	if (!code)
		code = vftrace_state("state", c, &s);
	if (!code)
		code = vftrace_location("file.c", 17, &l);
	for (int i = 0; i < 3 && !code; i++) {
		code = vftrace_enter(s, i ? l : 0);
		if (!code)
			code = vftrace_leave_state(s, i ? l : 0);
	}
	return code;
}

/* Into a state that nobody leaves. */
static int enter(void)
{
	int c, s, code = vftrace_class("stays", &c);

	if (!code)
		code = vftrace_state(text(0), c, &s);
	return code ? code : vftrace_enter(s, 0);
}

/* Counter NAME UNIT has the values V V V; those with a dot are real. */
static int counter(void)
{
	char *save = NULL;
	int c, code, real = !!strchr(text(2), '.');

	code = vftrace_counter_define(text(0), text(1), real, &c);
	for (char *v = strtok_r(value[2], ",", &save); v && !code; v = strtok_r(NULL, ",", &save))
		code = real ? vftrace_counter_set(c, atof(v))
			    : vftrace_counter_set_integer(c, atoll(v));
	return code;
}

/* What they must refuse, and what they make of values of the other type. */
static int counters_wrong(void)
{
	int c, r, again;
	int code = vftrace_counter_define("mixed", NULL, VFTRACE_COUNTER_INTEGER, &c);

	if (code)
		return code;
	if (vftrace_counter_define("mixed", "", VFTRACE_COUNTER_INTEGER, &again) || again != c ||
		vftrace_counter_define("mixed", "", VFTRACE_COUNTER_REAL, &r) || r == c)
		return 101;
	if (!vftrace_counter_define("", "", 0, &again) ||
		!vftrace_counter_define("x", "", 7, &again) ||
		!vftrace_counter_define("a\nb", "", 0, &again) || !vftrace_counter_set(99, 1) ||
		!vftrace_counter_set(0, 1) || !vftrace_counter_set(r, 0.0 / 0.0) ||
		!vftrace_counter_set(c, 1e30))
		return 102;
	return vftrace_counter_set(c, -2.6) || vftrace_counter_set_integer(r, 4) ? 103 : 0;
}

static int parent(void)
{
	int c, code = vftrace_parent(&c);

	return code ? code : c == VFTRACE_COMM_INVALID ? 99 : 0;
}

static int unordered(void)
{
	uint64_t then = vftrace_time();
	int code;

	pause_s(0.02);
	code = vftrace_begin_unordered(then);
	if (!code)
		code = vftrace_log_send(VFTRACE_COMM_SELF, 0, 1, 8);
	if (!code)
		code = vftrace_end_unordered();
	return code ? code : vftrace_log_receive(VFTRACE_COMM_SELF, 0, 1, 8);
}

/* So many MiB, used. */
static int eat(void)
{
	for (int i = 0; i < number(0); i++) {
		char *room = malloc(1 << 20);

		if (!room)
			return -1;
		memset(room, 1, 1 << 20);
	}
	return 0;
}

static int perform(const char *word)
{
	const char *theirs;
	char *f;
	int c;

#define IS(w) !strcmp(word, w)
	if (IS("join"))
		return join();
	if (IS("expect"))
		return expect();
	if (IS("start"))
		return vftrace_start(seconds(0));
	if (IS("finish"))
		return vftrace_finish(seconds(0));
	if (IS("async"))
		return vftrace_start_async();
	if (IS("test"))
		return test();
	if (IS("abort"))
		return vftrace_abort();
	if (IS("abortafter"))
		return abort_after();
	if (IS("reset"))
		return vftrace_reset();
	if (IS("leave"))
		return vftrace_leave();
	if (IS("create"))
		return create();
	if (IS("free"))
		return c = comm(0), vftrace_comm_free(&c);
	if (IS("children"))
		return children();
	if (IS("counter"))
		return counter();
	if (IS("counterswrong"))
		return counters_wrong();
	if (IS("parent"))
		return parent();
	if (IS("attach")) {
		f = value[3] ? read_file(value[3]) : NULL;
		theirs = f;
		return vftrace_attach(number(0), comm(1), number(2), theirs, seconds(4), &newest);
	}
	if (IS("send"))
		return vftrace_log_send(comm(0), number(1), number(2), strtoull(text(3), NULL, 0));
	if (IS("recv"))
		return vftrace_log_receive(
			comm(0), number(1), number(2), strtoull(text(3), NULL, 0));
	if (IS("coll"))
		return vftrace_log_collective(
			number(0), comm(1), number(2), strtoull(text(3), NULL, 0), 0);
	if (IS("ring"))
		return ring();
	if (IS("states"))
		return states();
	if (IS("enter"))
		return enter();
	if (IS("unordered"))
		return unordered();
	if (IS("data"))
		return vftrace_log_data(strtoull(text(1), NULL, 0), text(0));
	if (IS("load")) {
#ifdef DYNAMIC
		return vftrace_load(text(0));
#endif
	}
	if (IS("sleep"))
		return pause_s(seconds(0)), 0;
	if (IS("touch"))
		return write_file(text(0), "there"), 0;
	if (IS("wait"))
		return free(read_file(text(0))), 0;
	if (IS("eat"))
		return eat();
	if (IS("die"))
		return raise(number(0));
	if (IS("exit"))
		exit(number(0));
	fprintf(stderr, "app-session: no step %s\n", word);
	exit(8);
}

int main(int argc, char **argv)
{
	name = argc > 1 ? argv[1] : "nobody";
	for (int i = 2; i < argc; i++) {
		char *word = strdup(argv[i]), *at = word;
		double since = now(), took;
		int n = 0;

		memset(value, 0, sizeof(value));
		while ((at = strchr(at, '=')) && n < 8) {
			*at++ = '\0';
			value[n++] = at;
		}
		say(word, perform(word));
		took = now() - since;
		if (getenv("SESSION_TIMES"))
			printf("%s: %s took %.6f\n", name, word, took);
		fflush(stdout);
	}
	return 0;
}
