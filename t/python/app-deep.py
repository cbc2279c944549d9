# SPDX-License-Identifier: BSD-3-Clause
"""20 000 open calls of two functions that call each other, on a thread with room for them."""
import sys
import threading


def even(n):
	return odd(n - 1) if n else 0


def odd(n):
	return even(n - 1) if n else 0


sys.setrecursionlimit(30000)
threading.stack_size(256 << 20)
thread = threading.Thread(target=even, args=(20000,))
thread.start()
thread.join()
print("back")
