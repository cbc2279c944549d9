/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of hydro.cpp behind accessors of one line, in a header as such codes have it. */
#ifndef HYDRO_DOMAIN_H
#define HYDRO_DOMAIN_H

#include <vector>

namespace hydro {

using Real = double;

class Domain {
public:
	explicit Domain(int edge);

	Real &x(int i) { return x_[i]; }
	Real &y(int i) { return y_[i]; }
	Real &z(int i) { return z_[i]; }
	Real &velocity(int i) { return velocity_[i]; }
	Real &force(int i) { return force_[i]; }
	Real &mass(int i) { return mass_[i]; }
	Real &energy(int i) { return energy_[i]; }
	Real &pressure(int i) { return pressure_[i]; }
	Real &volume(int i) { return volume_[i]; }
	int corner(int element, int k) const { return corners_[8 * element + k]; }
	int elements() const { return static_cast<int>(energy_.size()); }
	int nodes() const { return static_cast<int>(x_.size()); }

private:
	std::vector<Real> x_, y_, z_, velocity_, force_, mass_, energy_, pressure_, volume_;
	std::vector<int> corners_;
};

} // namespace hydro

#endif
