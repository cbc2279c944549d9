// SPDX-License-Identifier: BSD-3-Clause
// The plug-in of app-throw-host: throws through a clean-up, throws again, catches.
struct guard {
	int *n;
	~guard() { ++*n; }
};

static void thrower(int n)
{
	throw n;
}

static void between(int n, int *cleaned)
{
	guard g = {cleaned};

	try {
		thrower(n);
	} catch (int) {
		throw;
	}
}

extern "C" int caught(int n)
{
	int cleaned = 0;

	try {
		between(n, &cleaned);
	} catch (int m) {
		return m + cleaned;
	}
	return -1;
}
