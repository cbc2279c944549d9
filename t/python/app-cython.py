# SPDX-License-Identifier: BSD-3-Clause
"""Calls functions that Cython has compiled, of module compiled."""
import compiled


def main():
	print(sum(compiled.counting(5)))


main()
