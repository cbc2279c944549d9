// SPDX-License-Identifier: BSD-3-Clause
// A program with Kokkos itself, which counts its kernels by their labels.
#include <Kokkos_Core.hpp>
#include <cstdio>

static void step(int n)
{
	Kokkos::Profiling::pushRegion("step");
	Kokkos::View<double *> x("field", n);
	double sum = 0;

	Kokkos::parallel_for("axpy", n, KOKKOS_LAMBDA(int i) { x(i) = i; });
	Kokkos::parallel_reduce("dot", n, KOKKOS_LAMBDA(int i, double &t) { t += x(i); }, sum);
	Kokkos::Profiling::popRegion();
	std::printf("%g\n", sum);
}

int main(int argc, char **argv)
{
	Kokkos::initialize(argc, argv);
	for (int i = 0; i < 7; i++)
		step(1000);
	Kokkos::finalize();
}
