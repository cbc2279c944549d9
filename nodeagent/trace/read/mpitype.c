/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/trace/read/mpitype.h"

#include "nodeagent/base/util.h"

static const struct vfd_mpitype types[] = {
#define TYPE(name, bytes, classic) {name, bytes, classic},
#include "mpi_type_name.h"
#undef TYPE
};

static const struct vfd_mpitype derived = {"MPI_DERIVED_TYPE", 1, -1};

const struct vfd_mpitype *vfd_mpitype(uint32_t type)
{
	return type && type <= ARRAY_SIZE(types) ? &types[type - 1] : &derived;
}
