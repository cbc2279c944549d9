// SPDX-License-Identifier: BSD-3-Clause
// Code that runs before main, inside of it and after it, with known calls.
#include <cstdlib>

static volatile int sink;

extern "C" {
__attribute__((noinline)) void helper()
{
	sink = sink + 1;
}

// only ever called before main
__attribute__((noinline)) void early()
{
	for (int i = 0; i < 5; i++)
		helper();
}

// called before main, by main, and after main
__attribute__((noinline)) void always()
{
	helper();
}

__attribute__((noinline)) void late()
{
	helper();
}
}

struct whole_life {
	whole_life()
	{
		early();
		always();
	}
	~whole_life()
	{
		always();
		late();
	}
};

static whole_life object;

int main()
{
	always();
	helper();
	return 0;
}
