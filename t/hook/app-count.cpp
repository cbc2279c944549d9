// SPDX-License-Identifier: BSD-3-Clause
// A C++ program whose profile is known: exceptions through several frames and
// caught at different levels, rethrown and nested; templates, virtual functions,
// overloads, lambdas, name spaces. The counter uses the names of the symbol table.
// app-count FILE [REPEAT] writes its own counts to FILE.
#include "app-counter.h"

static volatile long sink;

KEEP void leaf()
{
	COUNT("_Z4leafv");
	sink = sink + 1;
}

struct slip {
	int level;
};

struct other {
	int why;
};

namespace deep
{
KEEP void thrower(int level)
{
	COUNT("_ZN4deep7throwerEi");
	leaf();
	if (level < 0)
		return;
	if (level % 5 == 4)
		throw other{level};
	throw slip{level};
}

KEEP void through(int n, int level)
{
	COUNT("_ZN4deep7throughEii");
	leaf();
	if (n > 0)
		through(n - 1, level);
	else
		thrower(level);
	leaf(); // never reached
}
} // namespace deep

KEEP void middle(int level)
{
	COUNT("_Z6middlei");
	try {
		deep::through(3, level);
	} catch (const slip &s) {
		leaf();
		if (s.level > 2)
			throw;
	}
	leaf();
}

KEEP void outer(int level)
{
	COUNT("_Z5outeri");
	try {
		middle(level);
	} catch (const slip &s) {
		leaf();
		try {
			deep::thrower(s.level);
		} catch (...) {
			leaf();
		}
		leaf();
	}
	leaf();
}

KEEP void safe(int level)
{
	COUNT("_Z4safei");
	try {
		outer(level);
	} catch (const other &) {
		leaf();
	}
	leaf();
}

// unwinding runs the clean-up, which calls traced functions
KEEP void clean()
{
	COUNT("_Z5cleanv");
	leaf();
}

KEEP void with_cleanup(int level)
{
	COUNT("_Z12with_cleanupi");
	struct at_end {
		UNTRACED ~at_end()
		{
			clean();
		}
	} now;
	(void)now;
	if (level % 2)
		deep::thrower(level);
	leaf();
}

KEEP void cleans(int level)
{
	COUNT("_Z6cleansi");
	try {
		with_cleanup(level);
	} catch (...) {
	}
	leaf();
}

template <typename T> struct type_name;
template <> struct type_name<int> {
	static constexpr const char *twice = "_Z5twiceIiET_S0_";
};
template <> struct type_name<double> {
	static constexpr const char *twice = "_Z5twiceIdET_S0_";
};

template <typename T> KEEP T twice(T x)
{
	COUNT(type_name<T>::twice);
	leaf();
	return x + x;
}

template <int n> struct chain {
	static KEEP int walk(const char *const *names)
	{
		COUNT(*names);
		return chain<n - 1>::walk(names + 1) + 1;
	}
};
template <> struct chain<0> {
	static KEEP int walk(const char *const *names)
	{
		COUNT(*names);
		leaf();
		return 0;
	}
};

struct shape {
	UNTRACED shape()
	{
	}
	virtual int area() = 0;
	KEEP int twice_area();

      protected:
	~shape() = default;
};

struct square final : shape {
	UNTRACED square()
	{
	}
	int side;
	KEEP int area() override;
};

struct strip final : shape {
	UNTRACED strip()
	{
	}
	KEEP int area() override;
};

int square::area()
{
	COUNT("_ZN6square4areaEv");
	leaf();
	return side * side;
}

int strip::area()
{
	COUNT("_ZN5strip4areaEv");
	return 1;
}

int shape::twice_area()
{
	COUNT("_ZN5shape10twice_areaEv");
	return area() + area();
}

KEEP void overloaded(int)
{
	COUNT("_Z10overloadedi");
	leaf();
}

KEEP void overloaded(double)
{
	COUNT("_Z10overloadedd");
}

namespace
{
KEEP int recursive(int n)
{
	COUNT("_ZN12_GLOBAL__N_19recursiveEi");
	return n ? recursive(n - 1) + 1 : 0;
}
} // namespace

int main(int argc, char **argv)
{
	static const char *const names[] = {"_ZN5chainILi3EE4walkEPKPKc",
		"_ZN5chainILi2EE4walkEPKPKc", "_ZN5chainILi1EE4walkEPKPKc",
		"_ZN5chainILi0EE4walkEPKPKc"};
	int repeat = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1;

	COUNT("main");
	if (argc < 2) {
		fprintf(stderr, "usage: app-count FILE [REPEAT]\n");
		return 2;
	}
	for (int i = 0; i < repeat * 10; i++) {
		static square q;
		static strip s;

		safe(i);
		cleans(i);
		twice(i);
		twice(1.0 * i);
		chain<3>::walk(names);
		q.side = i;
		sink = sink + q.twice_area() + s.twice_area();
		overloaded(i);
		overloaded(0.5);
		recursive(i);
	}
	counter_write(argv[1], "w");
	return 0;
}
