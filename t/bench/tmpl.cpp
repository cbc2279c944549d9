// SPDX-License-Identifier: BSD-3-Clause
// Templates, virtual functions, maps and sorting: most of its calls are of the standard library.
#include <cstdlib>
#include <map>
#include <string>
#include <vector>
#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>
#include <iostream>
#include <sstream>
namespace physics
{
namespace detail
{
template <class T, class Cmp = std::less<T>> struct Field {
	std::vector<T> d;
	Cmp c;
	explicit Field(size_t n) : d(n)
	{
		std::iota(d.begin(), d.end(), T(1));
	}
	template <class F> T reduce(F f) const
	{
		T r{};
		for (auto &x : d)
			r = f(r, x);
		return r;
	}
	void sort()
	{
		std::sort(d.begin(), d.end(), [this](const T &a, const T &b) { return c(b, a); });
	}
};
} // namespace detail
struct Model {
	virtual ~Model() = default;
	virtual double step(int) = 0;
};
template <class K> struct Table : Model {
	std::map<K, std::map<std::string, detail::Field<double>>> t;
	double step(int i) override
	{
		std::ostringstream o;
		o << i % 7;
		auto &m = t[K(i % 5)];
		auto it = m.find(o.str());
		if (it == m.end())
			it = m.emplace(o.str(), detail::Field<double>(200)).first;
		it->second.sort();
		return it->second.reduce([](double a, double b) { return a + b * 1e-3; });
	}
};
} // namespace physics
int main(int c, char **v)
{
	int n = c > 1 ? std::atoi(v[1]) : 300;
	std::vector<std::unique_ptr<physics::Model>> ms;
	ms.push_back(std::make_unique<physics::Table<int>>());
	ms.push_back(std::make_unique<physics::Table<double>>());
	double s = 0;
	for (int i = 0; i < n; i++)
		for (auto &m : ms)
			s += m->step(i);
	std::cout << s << "\n";
}
