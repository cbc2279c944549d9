# SPDX-License-Identifier: BSD-3-Clause
"""Sends around a ring and sums up, 10 times, by buffers: each call of mpi4py is one of MPI."""
from array import array
from mpi4py import MPI

world = MPI.COMM_WORLD


def ring(i):
	here, there = array("i", [i]), array("i", [0])
	world.Sendrecv([here, MPI.INT], (world.rank + 1) % world.size, 0,
		[there, MPI.INT], (world.rank - 1) % world.size, 0)
	return there[0]


def total(i):
	sum = array("i", [0])
	world.Allreduce([array("i", [i]), MPI.INT], [sum, MPI.INT])
	return sum[0]


def main():
	result = []
	for i in range(10):
		result.append(ring(i) + total(i))
	if not world.rank:
		print(*result)


main()
