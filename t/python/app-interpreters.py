# SPDX-License-Identifier: BSD-3-Clause
"""Calls a function here, and another one in a second interpreter of the process."""
import sys

CODE = """
def other():
	pass


for _ in range(7):
	other()
"""


def leaf():
	pass


leaf()
if sys.version_info >= (3, 13):
	import _interpreters
	second = _interpreters.create("legacy")
	_interpreters.exec(second, CODE)
	_interpreters.destroy(second)
else:
	import _xxsubinterpreters
	second = _xxsubinterpreters.create(isolated=False)
	_xxsubinterpreters.run_string(second, CODE)
	_xxsubinterpreters.destroy(second)
leaf()
