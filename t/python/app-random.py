# SPDX-License-Identifier: BSD-3-Clause
"""Calls functions at random, and counts by itself how often on which path.

	app-random.py SEED FILE [THREADS]

Leaves "CALLS PATH" lines in FILE. Functions call each other and themselves, end by exceptions that
others catch, and are generators that are left before their end. THREADS threads do the same.
"""
import _random
import sys
import threading
from collections import Counter


class Leave(Exception):
	pass


class Run:
	"""Of one thread. What a function does is decided here, in C functions only."""

	def __init__(self, seed):
		self.counts = Counter()
		self.dice = _random.Random(seed).getrandbits
		self.left = 3000


# Direct recursion is one frame. The counting is no call of a function of Python.
FUNCTION = """
def f%(i)d(run, path, depth):
	if not path.startswith("__main__.f%(i)d<"):
		path = "__main__.f%(i)d<" + path
	dict.__setitem__(run.counts, path, dict.get(run.counts, path, 0) + 1)
	run.left -= 1
	n = run.dice(2)
	while n and depth and run.left > 0:
		n -= 1
		what = run.dice(4)
		if what == 0:
			raise LEAVE
		if what == 1:
			try:
				FS[run.dice(3)](run, path, depth - 1)
			except LEAVE:
				pass
		elif what == 2:
			g = GS[run.dice(2)](run, path, run.dice(2))
			for _ in g:
				if not run.dice(2):
					break
			del g
		else:
			FS[run.dice(3)](run, path, depth - 1)
"""
GENERATOR = """
def g%(i)d(run, path, n):
	path = "__main__.g%(i)d<" + path
	dict.__setitem__(run.counts, path, dict.get(run.counts, path, 0) + 1)
	while n:
		n -= 1
		try:
			yield n
		finally:  # it goes on, or is closed
			dict.__setitem__(run.counts, path, dict.get(run.counts, path, 0) + 1)
"""


def work(run):
	while run.left > 0:
		try:
			FS[run.dice(3)](run, "init", 12)
		except Leave:
			pass


def main():
	seed, file = int(sys.argv[1]), sys.argv[2]
	threads = int(sys.argv[3]) if len(sys.argv) > 3 else 0
	runs = [Run(seed * 100 + i) for i in range(1 + threads)]
	others = [threading.Thread(target=work, args=(run,)) for run in runs[1:]]
	for t in others:
		t.start()
	work(runs[0])
	for t in others:
		t.join()
	with open(file, "w") as out:
		for run in runs:
			for path, n in run.counts.items():
				print(n, path, file=out)
	print("random", seed, sum(sum(run.counts.values()) for run in runs))


LEAVE = Leave
for i in range(8):
	exec(FUNCTION % {"i": i})
for i in range(4):
	exec(GENERATOR % {"i": i})
FS = [globals()["f%d" % i] for i in range(8)]
GS = [globals()["g%d" % i] for i in range(4)]
if __name__ == "__main__":
	main()
