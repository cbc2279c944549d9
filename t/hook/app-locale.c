/* SPDX-License-Identifier: BSD-3-Clause */
/* Its first event is in a handler, nearly always while the C library has the lock of its locales.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile sig_atomic_t n;

static void leaf(void)
{
	n++;
}

static void handler(int signal)
{
	(void)signal;
	leaf();
}

__attribute__((no_instrument_function)) int main(void)
{
	const struct itimerval each = {{0, 500}, {0, 5000}};

	setlocale(LC_CTYPE, "C.UTF-8"); /* one of several bytes, not used yet */
	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &each, NULL);
	for (unsigned i = 0; n < 20; i++)
		setlocale(LC_NUMERIC, i % 2 ? "C" : "C.UTF-8");
	puts("end");
	return 0;
}
