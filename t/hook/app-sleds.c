/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Built by clang with -fxray-instrument: app-sleds ROUNDS. Prints whether its sleds are changed,
 * and a sum that depends on all arguments and results of its functions. Each round calls each of
 * ints, doubles, mixed, vectors, wide, variable, pair, longer and odd once, tail twice, and fib(5)
 * 15 times.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

typedef double v4 __attribute__((vector_size(32)));
struct two {
	double a;
	long b;
};

ALONE static long ints(long a, int b, long c, long d, long e, long f, long g, long h)
{
	return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h;
}

ALONE static double doubles(
	double a, double b, double c, double d, double e, double f, double g, double h)
{
	return a + 2 * b + 3 * c + 5 * d + 7 * e + 11 * f + 13 * g + 17 * h;
}

ALONE static double mixed(int a, double b, long c, float d, const char *e)
{
	return a + b * 3 + c * 5 + d * 7 + (double)strlen(e);
}

ALONE static v4 vectors(v4 a, v4 b)
{
	return a * b + a;
}

#ifdef __AVX512F__
typedef double v8 __attribute__((vector_size(64)));
ALONE static v8 wide(v8 a, v8 b)
{
	return a - b * 2;
}
#else
ALONE static double wide(double a, double b)
{
	return a - b * 2;
}
#endif

ALONE static double variable(int n, ...)
{
	double sum = 0;
	va_list l;

	va_start(l, n);
	for (int i = 0; i < n; i++)
		sum += va_arg(l, double);
	va_end(l);
	return sum;
}

ALONE static struct two pair(double a, long b)
{
	return (struct two){a * 2, b * 3};
}

ALONE static long double longer(long double a)
{
	return a * 3 + 1;
}

ALONE static int odd(int n);
ALONE static int tail(int n)
{
	return n == 0 ? 7 : odd(n - 1);
}

ALONE static int odd(int n)
{
	return n == 0 ? 9 : tail(n - 1);
}

ALONE static int fib(int n)
{
	int a = n, b = 0;

	if (n >= 2) {
		a = fib(n - 1);
		b = fib(n - 2);
		__asm__ volatile("" : "+r"(a), "+r"(b)); /* so both are calls */
	}
	return a + b;
}

ALONE static double round_of(int i)
{
	const v4 a = {i, 1, 2, 3}, b = {4, 5, i, 7};
	double sum = (double)ints(i, 1, 2, 3, 4, 5, 6, i);
	struct two t;

	sum += doubles(i, 1, 2, 3, 4, 5, 6, i) + mixed(i, 2, 3, 4, "five");
#ifdef __AVX512F__
	const v8 w = {i, 1, 2, 3, 4, 5, 6, 7}, r = wide(w, w + 1);
	sum += r[0] + r[7];
#else
	sum += wide(i, 2);
#endif
	const v4 c = vectors(a, b);
	sum += c[0] + 2 * c[1] + 3 * c[2] + 5 * c[3];
	sum += variable(4, 1.0, 2.0, (double)i, 4.0);
	t = pair(i, i);
	sum += t.a + (double)t.b + (double)longer(i);
	return sum + tail(2) + fib(5);
}

static jmp_buf back;

ALONE static void jumps(int depth)
{
	if (!depth)
		longjmp(back, 1);
	jumps(depth - 1);
	__asm__ volatile(""); /* no call in place of a return */
}

ALONE static int after_jump(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

ALONE static int jumper(void)
{
	if (!setjmp(back))
		jumps(3);
	return after_jump(1);
}

static void *thread(void *rounds)
{
	static double sums[64];
	static int n;
	double *sum = &sums[__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED)];

	for (int i = 0; i < *(int *)rounds; i++)
		*sum += round_of(i);
	return sum;
}

/* Of a sled at the begin the second byte is the distance of a jump. */
__attribute__((xray_never_instrument)) static const char *state(void)
{
	const unsigned char *code = (const unsigned char *)&fib;

	return code[0] != 0xeb ? "no sled" : code[1] ? "unchanged" : "changed";
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, status;
	double sum = 0;
	pthread_t t[2];
	void *result;
	pid_t child;

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, thread, &rounds);
	for (int i = 0; i < rounds; i++)
		sum += round_of(i);
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &result);
		sum += *(double *)result;
	}
	sum += jumper();
	child = fork();
	if (!child)
		exit(fib(7) == 13 ? 21 : 1);
	waitpid(child, &status, 0);
	fprintf(stderr, "%s\n", state());
	printf("%.17g %d\n", sum, WEXITSTATUS(status));
	return 0;
}
