/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Built by clang with -fxray-instrument: prints what goes wrong if a hook does not keep the flags,
 * the red zone or a register that a function may change. app-sled-registers
 */
#include <stdio.h>

#define ALONE __attribute__((noinline))

static volatile int number;

ALONE static void big(int x, int y)
{
	number += x;
	printf("[%d %d]", x, y);
}

ALONE static void small(int x, int y)
{
	printf("(%d %d)", x, y);
}

/* In cold functions a call in the place of a return becomes a conditional jump. */
__attribute__((noinline, cold)) static void either(int x, int y)
{
	if (x == y)
		big(x, y);
	else
		small(x, y);
}

__attribute__((noinline, cold)) static void maybe(int x, int y)
{
	if (x < y)
		big(x, y);
}

ALONE static void plain_big(int x, int y)
{
	number += x - y;
	__asm__ volatile("");
}

/* keep[] lies below the stack pointer. */
__attribute__((noinline, cold)) static void red_zone(int x, int y)
{
	volatile long keep[12];
	long sum = 0;

	for (int i = 0; i < 12; i++)
		keep[i] = i;
	if (x < y) {
		plain_big(x, y);
		return;
	}
	for (int i = 0; i < 12; i++)
		sum += keep[i];
	number = (int)sum;
}

/* All registers for arguments are in use, and %al: the address is in %r11. */
typedef int (*variadic)(int, int, int, int, int, int, ...);
ALONE static int sum_of(int a, int b, int c, int d, int e, int f, ...)
{
	return a + b + c + d + e + f;
}
static variadic volatile any_sum = sum_of;
ALONE static int by_address(int a, int b, int c, int d, int e, int f)
{
	return any_sum(f, e, d, c, b, a);
}

#ifdef GENERAL_REGISTERS
static volatile long noted;
__attribute__((noinline, no_caller_saved_registers)) static void note(void)
{
	noted++;
}
#else
#define note() ((void)0)
#endif
ALONE static long many(long a, long b, long c, long d, long e, long f)
{
	long x = a * b, y = b * c, z = c * d, w = d * e, v = e * f, u = f * a, t = a + b, s = b + c,
	     r = c + d;

	note();
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * x + 8 * y + 9 * z + 10 * w + 11 * v +
	       12 * u + 13 * t + 14 * s + 15 * r;
}

int main(void)
{
	for (int i = 0; i < 4; i++) {
		either(i, 2);
		maybe(i, 2);
		red_zone(i, 2);
		printf("%d ", number);
	}
	printf("%d %ld\n", by_address(1, 2, 3, 4, 5, 6), many(1, 2, 3, 4, 5, 6));
	return 0;
}
