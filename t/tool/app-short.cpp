// SPDX-License-Identifier: BSD-3-Clause
// Short functions of all kinds of names, called often by two long ones; prints a sum. What is part
// of the name of a long function, as `tick' is of `ticking', no list of gcc can leave out alone.
#include <cstdio>
#include <cstdlib>

#ifndef SHORT
#define SHORT __attribute__((noinline))
#endif

namespace grid
{
template <class T> struct cell {
	T value;
	SHORT T get(T by) const
	{
		return value + by;
	}
};

struct row {
	long sum = 0;
	SHORT void put(long x)
	{
		sum += x;
	}
	SHORT long operator()(long x) const
	{
		return sum ^ x;
	}
};

template <class T> SHORT T twice(T x)
{
	return x + x;
}
} // namespace grid

extern "C" SHORT long plain_step(long x)
{
	return x + 1;
}

SHORT static long tick(long x)
{
	return x * 3;
}

__attribute__((noinline)) static void ticking(long n)
{
	volatile long x = 0;

	for (long i = 0; i < 200 * n; i++)
		x = x + i;
}

__attribute__((noinline)) static long work(long n)
{
	grid::cell<long> c{2};
	grid::row r;

	for (long i = 0; i < n; i++) {
		r.put(c.get(i));
		r.put(grid::twice(i) + plain_step(i));
		if (i % 2 == 0)
			r.put(r(i) + tick(i));
	}
	return r.sum;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 20000;

	std::printf("%ld\n", work(n));
	ticking(n);
}
