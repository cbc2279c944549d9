# SPDX-License-Identifier: BSD-3-Clause
"""Ends, or goes on, in the way that the first argument says; with some calls before."""
import os
import signal
import sys
import threading
import time


def leaf():
	pass


def spin():
	while True:
		leaf()
		time.sleep(0)


def daemons():
	for _ in range(3):
		threading.Thread(target=spin, daemon=True).start()
	time.sleep(0.05)  # long enough for each to begin, or not: both must end well
	sys.exit(9)


def handled():
	def handler(number, frame):
		leaf()

	signal.signal(signal.SIGUSR1, handler)
	for _ in range(3):
		signal.raise_signal(signal.SIGUSR1)


def traced():
	seen = []

	def trace(frame, event, argument):
		seen.append(event)
		return trace

	sys.settrace(trace)
	leaf()
	sys.settrace(None)
	print(*seen)


def hooked():
	seen = []
	sys.addaudithook(lambda event, arguments: event == "open" and seen.append(event))
	open("/dev/null").close()
	print(*seen)


def raw_thread():
	import _thread
	done = _thread.allocate_lock()
	done.acquire()
	_thread.start_new_thread(lambda: (open("/dev/null").close(), done.release()), ())
	done.acquire()


def foreign_threads():
	import ctypes
	called = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda argument: leaf())
	c = ctypes.CDLL(None)
	for _ in range(3):
		thread = ctypes.c_ulong()
		c.pthread_create(ctypes.byref(thread), None, called, None)
		c.pthread_join(thread, None)


def failing_thread():
	thread = threading.Thread(target=lambda: 1 / 0)
	thread.start()
	thread.join()


def wrong():
	raise RuntimeError("wrong")


def forgets():
	class Forgetful:
		def __del__(self):
			leaf()

	globals()["kept"] = Forgetful()


def too_deep():
	def more():
		more()

	try:
		more()
	except RecursionError:
		print("too deep")


WAYS = {
	"_exit": lambda: os._exit(7),
	"exec": lambda: os.execv("/bin/echo", ["echo", "another program"]),
	"kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
	"abort": os.abort,
	"text": lambda: sys.exit("a text"),
	"interrupt": lambda: signal.raise_signal(signal.SIGINT),
	"daemons": daemons,
	"handled": handled,
	"traced": traced,
	"hooked": hooked,
	"raw_thread": raw_thread,
	"foreign_threads": foreign_threads,
	"failing_thread": failing_thread,
	"wrong": wrong,
	"forgets": forgets,
	"too_deep": too_deep,
	"plain": leaf,
}


def inner():
	leaf()
	WAYS[sys.argv[1]]()


inner()
