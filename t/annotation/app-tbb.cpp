// SPDX-License-Identifier: BSD-3-Clause
// oneTBB, compiled so that it tells ITT what it does: nodes of a flow graph, and an algorithm.
#define TBB_USE_PROFILING_TOOLS 1
#include <cstdio>
#include <tbb/tbb.h>

int main()
{
	tbb::flow::graph graph;
	tbb::flow::continue_node<tbb::flow::continue_msg> node(
		graph, [](const tbb::flow::continue_msg &) {});
	double sum;

	for (int i = 0; i < 4; i++)
		node.try_put(tbb::flow::continue_msg());
	graph.wait_for_all();
	sum = tbb::parallel_reduce(
		tbb::blocked_range<int>(0, 100000), 0.,
		[](const tbb::blocked_range<int> &r, double v) {
			for (int i = r.begin(); i < r.end(); i++)
				v += i;
			return v;
		},
		std::plus<double>());
	std::printf("%g\n", sum);
}
