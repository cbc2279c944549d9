// SPDX-License-Identifier: BSD-3-Clause
// A shape in C++, for t7303: templates, virtual functions, destructors, an exception.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#define QUIET __attribute__((no_instrument_function))
using clock_type = std::chrono::steady_clock;

QUIET static double seconds()
{
	return std::chrono::duration<double>(clock_type::now().time_since_epoch()).count();
}

QUIET static void spin(double us)
{
	for (const double end = seconds() + us * 1e-6; seconds() < end;)
		;
}

struct body {
	virtual ~body() { spin(3); }
	virtual void move() { spin(11); }
};

struct planet : body {
	void move() override
	{
		spin(17);
		body::move();
	}
};

struct comet : body {
	void move() override
	{
		spin(120);
		if (++moves % 7 == 0)
			throw moves;
	}
	int moves = 0;
};

template <class T, int N> void drift(std::vector<std::unique_ptr<T>> &all)
{
	for (auto &b : all) {
		try {
			b->move();
		} catch (int) {
			spin(40);
		}
	}
	spin(N);
}

int main(int argc, char **argv)
{
	const double end = seconds() + (argc > 2 ? atoi(argv[2]) : 400) * 1e-3;

	while (seconds() < end) {
		std::vector<std::unique_ptr<body>> all;

		for (int i = 0; i < 6; i++)
			all.emplace_back(i % 3 ? new planet : static_cast<body *>(new comet));
		for (int i = 0; i < 10; i++)
			drift<body, 25>(all);
	}
}
