# SPDX-License-Identifier: BSD-3-Clause
"""Threads of module threading, with a method run of their own; some do things before that."""
import threading


def leaf():
	pass


class Plain(threading.Thread):
	def run(self):
		leaf()


class Early(Plain):
	def _set_ident(self):  # is called in the new thread, before module threading sets profiles
		super()._set_ident()
		open("/dev/null").close()


for kind in Plain, Plain, Early, Plain, Early:
	thread = kind()
	thread.start()
	thread.join()
