/* SPDX-License-Identifier: BSD-3-Clause */
/* The other half of app-names.c, with functions of the same names. */
int other_work(int n);

static __attribute__((noinline)) int helper(int x)
{
	return x + 1;
}

static __attribute__((noinline)) int twin(int x)
{
	return x + 3;
}

int other_work(int n)
{
	int sum = 0;

	for (int i = 0; i < 2 * n; i++)
		sum = helper(sum);
	return twin(sum);
}
