# SPDX-License-Identifier: BSD-3-Clause
"""Sets profile functions of its own: cProfile, and one in Python, of which it prints the events."""
import cProfile
import pstats
import sys


def leaf():
	pass


def five():
	for _ in range(5):
		leaf()


def measured():
	profile = cProfile.Profile()
	profile.enable()
	five()
	profile.disable()
	calls = {name[2]: row[0] for name, row in pstats.Stats(profile).stats.items()}
	print(calls["five"], calls["leaf"])
	five()


def seen():
	events = []
	sys.setprofile(lambda frame, event, argument: events.append(event))
	five()
	sys.setprofile(None)
	print(len(events))


five()
measured()
seen()
five()
