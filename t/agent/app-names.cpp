// SPDX-License-Identifier: BSD-3-Clause
// C++ names: two instances of a template, a method, an operator, a namespace
// without a name, a lambda. Calls: add<int> 3, add<double> 2, step 4, hidden 1,
// operator+ 1, the lambda 5; grid's constructor 1; all from main.
#define NOINLINE __attribute__((noinline))

template <class T> NOINLINE T add(T a, T b)
{
	return a + b;
}

namespace heat
{
template <class T, int N> struct grid {
	T at[N];
	NOINLINE grid() : at()
	{
	}
	NOINLINE void step()
	{
		for (int i = 0; i < N; i++)
			at[i] += 1;
	}
	NOINLINE grid operator+(const grid &other) const
	{
		grid sum = *this;
		sum.at[0] += other.at[0];
		return sum;
	}
};
} // namespace heat

namespace
{
NOINLINE int hidden(int x)
{
	return x - 1;
}
} // namespace

int main()
{
	heat::grid<double, 3> g;
	int sum = 0;
	double x = 0;
	auto lambda = [&](int k) NOINLINE { sum += k; };

	for (int i = 0; i < 3; i++)
		sum = add(sum, i);
	for (int i = 0; i < 2; i++)
		x = add(x, 0.5);
	for (int i = 0; i < 4; i++)
		g.step();
	for (int i = 0; i < 5; i++)
		lambda(i);
	g = g + g;
	return hidden(sum + static_cast<int>(x) + static_cast<int>(g.at[0])) == 21 ? 0 : 2;
}
