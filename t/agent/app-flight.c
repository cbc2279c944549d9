/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose last seconds are known: steps of 100 calls of leaf(), one each ms, until the
 * file "stop" is there. Words: "kill", "exit": it ends so in step `at'; "at N".
 *
 * "still N": a program that records little, N rounds of 3 calls of leaf(), each followed by a call
 * that says that it has begun by the file "at ROUND", and ends when the file "go ROUND" is there.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define KEEP	 __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))

static volatile long sink;

KEEP static void leaf(void)
{
	sink++;
}

KEEP static void deep(int n)
{
	for (int i = 0; i < n; i++)
		leaf();
}

UNTRACED static void pause_ms(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

KEEP static void step(void)
{
	deep(100);
	pause_ms();
}

KEEP static void ends_in_here(const char *how)
{
	deep(7);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "exit"))
		_exit(3);
}

UNTRACED static void await(long number)
{
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "at%ld", number);
	f = fopen(name, "w");
	if (f)
		fclose(f);
	snprintf(name, sizeof(name), "go%ld", number);
	while (access(name, F_OK))
		pause_ms();
}

KEEP static void still(long number)
{
	await(number);
	sink++;
}

KEEP static void rounds(long n)
{
	for (long number = 1; number <= n; number++) {
		for (int i = 0; i < 3; i++)
			leaf();
		still(number);
	}
}

int main(int argc, char **word)
{
	long at = 1 << 30, n = 0;
	const char *how = "stop";

	if (argc > 2 && !strcmp(word[1], "still")) {
		rounds(atol(word[2]));
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		if (!strcmp(word[i], "at") && i + 1 < argc)
			at = atol(word[++i]);
		else
			how = word[i];
	}
	for (; access("stop", F_OK); n++) {
		step();
		if (n == at)
			ends_in_here(how);
	}
	printf("%ld\n", n);
	return 0;
}
