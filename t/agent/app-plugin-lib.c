/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in: plugin_run(n) calls WORK n times, WORK calls `step` once. WORK is
 * set on the command line, so that plug-ins have functions of other names at
 * the same offsets; PAD bytes before it move them.
 */
int plugin_run(int n);

#ifdef PAD
__asm__(".text\n.skip " PAD "\n");
#endif

static __attribute__((noinline)) int step(int x)
{
	return x + 1;
}

static __attribute__((noinline)) int WORK(int x)
{
	return step(x) + 1;
}

int plugin_run(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		sum = WORK(sum);
	return sum;
}
