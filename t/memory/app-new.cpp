// SPDX-License-Identifier: BSD-3-Clause
// Objects of 1 MiB, of which one stays; a static one that is deleted after main().
#include <memory>
#include <vector>

struct alignas(64) aligned {
	char bytes[1 << 20];
};

static aligned *kept;
static std::unique_ptr<char[]> until_the_end;

__attribute__((noinline)) void makes_arrays()
{
	char *a = new char[1 << 20];

	a[0] = 1;
	until_the_end.reset(a);
}

__attribute__((noinline)) void makes_aligned()
{
	for (int i = 0; i < 3; i++) {
		delete kept;
		kept = new aligned();
	}
}

__attribute__((noinline)) void makes_vectors()
{
	std::vector<double> v;

	for (int i = 0; i < 1000000; i++)
		v.push_back(i);
}

int main()
{
	makes_arrays();
	makes_aligned();
	makes_vectors();
	return kept->bytes[0];
}
