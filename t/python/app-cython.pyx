# cython: profile=True
# SPDX-License-Identifier: BSD-3-Clause


cdef int inner(int n):
	return n


def outer(n):
	return inner(n)


def counting(n):
	for i in range(n):
		yield outer(i)
