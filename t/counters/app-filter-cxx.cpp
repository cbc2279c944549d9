// SPDX-License-Identifier: BSD-3-Clause
// app-filter-cxx: 10 times run() calls solver::advance<double>() and advance<int>(), which call
// kernel::add(); every second one throws, through these two and check(), to run().
#include <stdexcept>

#define KEEP __attribute__((noinline))

static volatile int value;

namespace kernel
{
KEEP void add(int n)
{
	value = value + n;
}
KEEP void add(double n)
{
	value = value + static_cast<int>(n);
}
} // namespace kernel

KEEP static void check(int turn)
{
	if (turn % 2)
		throw std::runtime_error("odd");
	value = value + 1;
}

struct solver {
	template <typename T> KEEP void advance(int turn)
	{
		kernel::add(static_cast<T>(turn));
		check(turn);
		value = value + 1;
	}
};

KEEP static void run(int turn)
{
	solver s;

	try {
		s.advance<double>(turn);
		s.advance<int>(turn);
	} catch (const std::exception &) {
		kernel::add(1);
	}
	value = value + 1;
}

int main()
{
	for (int turn = 0; turn < 10; turn++)
		run(turn);
	return 0;
}
