# SPDX-License-Identifier: BSD-3-Clause
"""ns per call of an empty function: python.py CALLS [profile]; with cProfile."""
import sys
import time


def empty():
	pass


def rounds(n):
	for _ in range(n):
		empty()


calls = int(sys.argv[1])
if len(sys.argv) > 2:
	import cProfile
	profile = cProfile.Profile()
	profile.enable()
best = 1e9
for _ in range(7):
	start = time.perf_counter()
	rounds(calls)
	best = min(best, time.perf_counter() - start)
if len(sys.argv) > 2:
	profile.disable()
print("%.1f" % (best / calls * 1e9))
