/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * app-stl [N]: a C++ program that lives in the standard library: sorting by a lambda, maps
 * of strings, smart pointers, streams. Its own functions run some 5 N times, those of the
 * library and the lambda many thousands of times more.
 */
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

namespace physics {

template <class T, class Compare = std::less<T>> class Field {
public:
	explicit Field(size_t n) : values(n)
	{
		std::iota(values.begin(), values.end(), T(1));
	}
	void sort()
	{
		std::sort(values.begin(), values.end(),
			[this](const T &a, const T &b) { return compare(b, a); });
	}
	template <class F> T reduce(F f) const
	{
		T sum{};

		for (auto &value : values)
			sum = f(sum, value);
		return sum;
	}

private:
	std::vector<T> values;
	Compare compare;
};

struct Model {
	virtual ~Model() = default;
	virtual double step(int i) = 0;
};

template <class Key> class Table : public Model {
public:
	double step(int i) override
	{
		auto &row = rows[Key(i % 5)];
		auto found = row.find(key(i));

		if (found == row.end())
			found = row.emplace(key(i), Field<double>(200)).first;
		found->second.sort();
		return found->second.reduce([](double a, double b) { return a + b * 1e-3; });
	}

private:
	static std::string key(int i)
	{
		std::ostringstream text;

		text << i % 7;
		return text.str();
	}
	std::map<Key, std::map<std::string, Field<double>>> rows;
};

} // namespace physics

int main(int argc, char **argv)
{
	int steps = argc > 1 ? std::atoi(argv[1]) : 300;
	std::vector<std::unique_ptr<physics::Model>> models;
	double sum = 0;

	models.push_back(std::make_unique<physics::Table<int>>());
	models.push_back(std::make_unique<physics::Table<double>>());
	for (int i = 0; i < steps; i++)
		for (auto &model : models)
			sum += model->step(i);
	std::cout << sum << "\n";
}
