# SPDX-License-Identifier: BSD-3-Clause
"""Has an audit hook, which forbids profile functions, or prints which were set; and threads."""
import _thread
import sys
import threading

seen = []


def hook(event, arguments):
	if event == "sys.setprofile":
		if sys.argv[1] == "forbids":
			raise RuntimeError(event)
		seen.append(event)


def leaf():
	pass


def work():
	leaf()
	open("/dev/null").close()
	print("worked")


def raw():
	work()
	done.release()


leaf()
sys.addaudithook(hook)
thread = threading.Thread(target=work)
thread.start()
thread.join()
done = _thread.allocate_lock()
done.acquire()
_thread.start_new_thread(raw, ())
done.acquire()
leaf()
print(*seen)
