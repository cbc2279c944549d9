/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that app-shares loads. */
void plugged(long n);
void asking(void (*work)(long), long n);

static volatile double sum;

__attribute__((noinline)) static void inner(long n)
{
	double x = 1;

	for (long i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	sum = sum + x;
}

void plugged(long n)
{
	inner(n);
	sum = sum + 1;
}

/* The program itself does the work: only a caller of that is in this library. */
void asking(void (*work)(long), long n)
{
	work(n);
	sum = sum + 1;
}
