/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * C++ threads: std::thread and std::jthread, and thread_local objects whose
 * destructors call traced functions. app-threads.h says what is written.
 */
#include <cstring>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>
#include "app-threads.h"

KEEP static int leaf(int x)
{
	COUNT("leaf");
	return x + 1;
}

struct object {
	int rounds = 0;
	UNTRACED object()
	{
	}
	UNTRACED ~object()
	{
		for (int i = 0; i < rounds; i++)
			leaf(i);
	}
};

static UNTRACED object &local()
{
	static thread_local object o;
	return o;
}

KEEP static void body(int rounds)
{
	COUNT("body");
	for (int i = 0; i < rounds; i++)
		leaf(i);
	try {
		if (leaf(rounds))
			throw std::string("thrown");
	} catch (const std::string &) {
		leaf(1);
	}
}

struct plain {
	int creator, rounds;
	UNTRACED void operator()() const
	{
		thread_is_here(creator);
		local().rounds = rounds;
		body(rounds);
	}
};

struct stoppable {
	int creator, rounds;
	UNTRACED void operator()(std::stop_token stop) const
	{
		thread_is_here(creator);
		do
			body(rounds);
		while (!stop.stop_requested());
	}
};

KEEP static void go(int n)
{
	COUNT("go");
	std::vector<std::thread> threads;
	std::vector<std::jthread> joining;

	for (int i = 0; i < n; i++) {
		thread_will_be();
		threads.emplace_back(plain{own_tid(), i + 1});
		thread_will_be();
		joining.emplace_back(stoppable{own_tid(), i + 1});
	}
	for (std::thread &t : threads)
		t.join();
}

int main(int argc, char **argv)
{
	COUNT("main");
	begin(".");
	go(argc > 2 ? (int)strtol(argv[2], nullptr, 10) : 1);
	end();
	return 0;
}
