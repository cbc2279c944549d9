/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hydro [STEPS [EDGE]]: shock hydrodynamics on a mesh of hexahedra, as proxy codes of the
 * field do it: one class that owns all fields, reached through accessors of one line, and
 * kernels over elements and nodes that call them millions of times.
 */
#include <cmath>
#include <cstdlib>
#include <iostream>
#include "domain.h"

namespace hydro {

Domain::Domain(int edge)
{
	const int side = edge + 1, nodes = side * side * side, elements = edge * edge * edge;

	for (auto *field : {&x_, &y_, &z_, &velocity_, &force_, &mass_})
		field->assign(nodes, 0);
	for (auto *field : {&energy_, &pressure_, &volume_})
		field->assign(elements, 0);
	for (int n = 0; n < nodes; n++) {
		x_[n] = n % side;
		y_[n] = n / side % side;
		z_[n] = n / side / side;
		mass_[n] = 1;
	}
	for (int e = 0; e < elements; e++) {
		const int first = e % edge + side * (e / edge % edge) + side * side * (e / edge / edge);

		for (int k = 0; k < 8; k++)
			corners_.push_back(first + (k & 1) + side * (k >> 1 & 1) + side * side * (k >> 2));
	}
	energy_[0] = 3.948746;
}

/* What a corner adds to the volume. */
static inline Real triple(Real x, Real y, Real z)
{
	return std::sqrt(x * x + y * y + z * z);
}

static void calc_volumes(Domain &d)
{
	for (int e = 0; e < d.elements(); e++) {
		const int from = d.corner(e, 0), to = d.corner(e, 7);

		d.volume(e) = triple(d.x(to) - d.x(from), d.y(to) - d.y(from), d.z(to) - d.z(from));
	}
}

static void calc_pressures(Domain &d)
{
	for (int e = 0; e < d.elements(); e++)
		d.pressure(e) = d.energy(e) * (2.0 / 3) / d.volume(e);
}

static void sum_forces(Domain &d)
{
	for (int n = 0; n < d.nodes(); n++)
		d.force(n) = 0;
	for (int e = 0; e < d.elements(); e++)
		for (int k = 0; k < 8; k++)
			d.force(d.corner(e, k)) += (k & 1 ? 1 : -1) * d.pressure(e);
}

static void move_nodes(Domain &d, Real dt)
{
	for (int n = 0; n < d.nodes(); n++) {
		d.velocity(n) += dt * d.force(n) / d.mass(n);
		d.x(n) += dt * d.velocity(n);
	}
}

static void update_energies(Domain &d, Real dt)
{
	for (int e = 0; e < d.elements(); e++) {
		Real work = 0;

		for (int k = 0; k < 8; k++)
			work += d.velocity(d.corner(e, k)) * d.pressure(e);
		d.energy(e) -= 0.125 * dt * work;
	}
}

static void step(Domain &d, Real dt)
{
	calc_volumes(d);
	calc_pressures(d);
	sum_forces(d);
	move_nodes(d, dt);
	update_energies(d, dt);
}

} // namespace hydro

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? std::atoi(argv[1]) : 10;
	hydro::Domain domain(argc > 2 ? std::atoi(argv[2]) : 20);
	double sum = 0;

	for (int i = 0; i < steps; i++)
		hydro::step(domain, 1e-4);
	for (int e = 0; e < domain.elements(); e++)
		sum += domain.energy(e);
	std::cout << sum << "\n";
}
