# SPDX-License-Identifier: BSD-3-Clause
"""A known number of calls, in each way in which Python calls. Its own stdout and exit status."""
import asyncio
import atexit
import sys


def leaf():
	pass


def again(n):
	if n:
		again(n - 1)


def counting(n):
	for i in range(n):
		leaf()
		yield i


class Shape:
	def __enter__(self):
		leaf()

	def __exit__(self, *ignored):
		leaf()

	@staticmethod
	def fixed():
		leaf()


def fail(n):
	if n == 0:
		raise ValueError
	fail2(n - 1)


def fail2(n):
	fail(n)


async def sleeper(n):
	for _ in range(n):
		await asyncio.sleep(0)
		leaf()


async def together():
	await asyncio.gather(sleeper(3), sleeper(2))


def last():
	leaf()


def main():
	for _ in range(100):
		leaf()
	again(10)
	for _ in counting(5):  # 6 calls
		leaf()
	with Shape():
		Shape.fixed()
	try:
		fail(3)
	except ValueError:
		leaf()
	(lambda: leaf())()
	asyncio.run(together())


atexit.register(last)
main()
print("known")
sys.exit(3)
