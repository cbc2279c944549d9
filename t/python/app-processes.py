# SPDX-License-Identifier: BSD-3-Clause
"""Two processes of module multiprocessing, by the start method of the argument, and one of fork."""
import multiprocessing
import os
import sys


def leaf():
	pass


def work(n):
	for _ in range(n):
		leaf()


if __name__ == "__main__":
	multiprocessing.set_start_method(sys.argv[1])
	processes = [multiprocessing.Process(target=work, args=(7,)) for _ in range(2)]
	for p in processes:
		p.start()
	for p in processes:
		p.join()
	child = os.fork()
	if not child:
		work(3)
		os._exit(4)
	print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), *(p.exitcode for p in processes))
