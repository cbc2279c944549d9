# SPDX-License-Identifier: BSD-3-Clause
"""Destructors that the garbage collector calls, as often as it can; prints how many."""
import gc

count = 0


def leaf():
	global count
	count += 1


class Garbage:
	def __init__(self):
		self.me = self

	def __del__(self):
		leaf()


functions = [eval("lambda: None") for _ in range(400)]  # each with code of its own
gc.set_threshold(7)
for function in functions:
	Garbage()
	function()
gc.collect()
gc.disable()
print(count)
