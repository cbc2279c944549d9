#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds a report (FILE.html) against the JSON of its run:

	same-numbers.py FILE.html FILE.json [FILE.json ...]

Prints what was compared; ends with 1 and tells the number if one is not as in the JSON.
"""
import html.parser
import json
import math
import re
import sys

VOID = {"meta", "input"}
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "%": 0.01,
	**{unit + "iB": 1024.0 ** (i + 1) for i, unit in enumerate("KMGTPE")}, "B": 1.0}
CLASSES = ["useful_s", "mpi_s", "mpi_wait_s", "openmp_wait_s", "openmp_idle_s", "lock_wait_s", "gpu_wait_s",
	"io_s", "blocked_s", "unknown_s"]


BARS_MAX = 64
# picture: its title, the array, names of elements, member that has the numbers, the one that must be
# there, bytes, parts: title, key and what is taken away from it
BARS = {
	"openmp-ranks": ("Time of all threads of each rank", "per_rank", ("rank {rank} on {node}",), "all_threads",
		"openmp_wait_s", False, (("useful work", "useful_s", None), ("MPI", "mpi_s", None),
		("waits in OpenMP", "openmp_wait_s", None), ("idle in OpenMP", "openmp_idle_s", None))),
	"openmp-regions": ("Time of threads in each parallel region", "openmp", ("{region} < {caller}",), None, None,
		False, (("work", "t_busy_s", None), ("waits at barriers", "t_barrier_s", None),
		("other waits", "t_wait_s", "t_barrier_s"), ("start", "t_start_s", None), ("join", "t_join_s", None))),
	"openmp-threads": ("Time of each thread in teams and outside", "each_thread", ("rank {rank}, thread {thread}",),
		None, "t_team_waits_s", False, (("work in teams", "t_teams_s", "t_team_waits_s"),
		("waits in teams", "t_team_waits_s", None), ("waits for the end of teams", "t_team_joins_s", None),
		("outside of teams", "t_alive_s", "t_teams_s t_team_joins_s"))),
	"gpu-devices": ("Use of each GPU in the time of the run", "gpus", ("{host}, rank {rank}, device {device}",), None,
		None, False, (("kernels", "t_compute_s", None), ("only copies and others", "t_busy_s", "t_compute_s"),
		("idle", "runtime_s", "t_busy_s"))),
	"io-bytes": ("Bytes of each file of the program", "posix_files", ("{name}",), None, None, True,
		(("read", "bytes_read", None), ("written", "bytes_written", None))),
	"io-times": ("Time for each file of the program", "posix_files", ("{name}",), None, None, False,
		(("reads", "read_s", None), ("writes", "write_s", None), ("other calls", "other_s", None))),
	"io-mpi-bytes": ("Bytes of each file of MPI", "files", ("{name}",), None, None, True,
		(("read", "bytes_read", None), ("written", "bytes_written", None))),
	"io-mpi-times": ("Time for each file of MPI", "files", ("{name}",), None, None, False,
		(("reads", "t_read_s", None), ("writes", "t_write_s", None))),
	"io-paths": ("Time of input and output that the program has told", "io", ("{path}: {kind}",), None, None, False,
		(("operations", "t_s", None),)),
	"memory-high-water": ("High water of memory of each rank", "memory_ranks", ("rank {rank}",), None, None, True,
		(("still there at the end", "live_bytes", None), ("freed before the end", "peak_bytes", "live_bytes"))),
	"memory-paths": ("Memory of call paths when the process had most", "memory", ("{path}",), None, None, True,
		(("then there", "peak_bytes", None),)),
}
# of elements that a list has not: in large jobs
SUMS = {"per_rank": ("ranks_by_node", "ranks"), "memory_ranks": ("memory_by_node", "ranks"),
	"gpus": ("gpus_by_node", "gpus")}


class Report(html.parser.HTMLParser):
	"""Tables as rows of (text, exact) by caption, titles of shapes and texts by picture, the JSON."""

	def __init__(self):
		super().__init__(convert_charrefs=True)
		self.open, self.tables, self.titles, self.texts, self.data = [], {}, {}, {}, []
		self.ids, self.links, self.json, self.picture, self.described = set(), [], "", None, set()
		self.table, self.cell = None, None

	def handle_starttag(self, tag, attributes):
		a = dict(attributes)
		if "id" in a:
			assert a["id"] not in self.ids, "twice: id " + a["id"]
			self.ids.add(a["id"])
		if tag == "a":
			self.links.append(a["href"])
		if tag == "rect" and self.picture == "flame":
			assert float(a["x"]) + float(a["width"]) < 1000.1, "a box beyond the picture"
		if tag == "svg":
			self.picture = a["id"]
			self.titles[self.picture], self.texts[self.picture] = [], []
			assert a["role"] == "img"
			self.described.update(a["aria-labelledby"].split())
		if tag == "table":
			self.table = {"caption": "", "rows": []}
		if tag == "tr":
			self.table["rows"].append([])
		if tag in ("td", "th"):
			assert tag == "td" or a["scope"] in ("row", "col")
			self.cell = ["", None]
		if tag == "data":
			self.data.append([float(a["value"]), ""])
			if self.cell:
				self.cell[1] = float(a["value"])
		if tag not in VOID:
			self.open.append(tag)

	def handle_endtag(self, tag):
		assert self.open.pop() == tag, "not closed before " + tag
		if tag in ("td", "th"):
			self.table["rows"][-1].append(tuple(self.cell))
			self.cell = None
		if tag == "table":
			assert self.table["caption"]
			self.tables[self.table["caption"]] = self.table["rows"]

	def handle_data(self, text):
		if not self.open:
			return
		if self.open[-1] == "caption":
			self.table["caption"] += text
		if self.open[-1] == "script" and not self.json:
			self.json = text
		if self.open[-1] == "data":
			self.data[-1][1] += text
		if self.open[-2:] == ["rect", "title"]:
			self.titles[self.picture].append(text)
		if self.open[-1] == "text":
			self.texts[self.picture].append(text)
		if self.cell:
			self.cell[0] += text


def numbers_of(value, to):
	if isinstance(value, dict):
		value = list(value.values())
	if isinstance(value, list):
		for v in value:
			numbers_of(v, to)
	elif isinstance(value, (int, float)) and not isinstance(value, bool):
		to.add(float(value))
	return to


def near(a, b):
	return abs(a - b) <= 2e-9 + 1e-12 * abs(b)


def compare(what, is_, wanted):
	if not near(is_, wanted):
		sys.exit("%s: %r in the report, %r in the JSON" % (what, is_, wanted))


def class_seconds(row, key):
	s = max(0.0, row.get(key, 0.0))
	if key == "mpi_s" and row.get("mpi_wait_s", 0.0) > 0:
		s = max(0.0, s - row["mpi_wait_s"])
	return s


def sums_of(runs):
	"""Numbers that are made of several of the JSON's."""
	ranks = runs[0].get("per_rank", [])
	times = [run.get("per_rank", []) + run.get("ranks_by_node", []) for run in runs]
	sums = {sum(class_seconds(r, key) for r in of) for key in CLASSES for of in times}
	own = sum(s["t_excl_s"] for s in runs[0]["stacks"])
	ordered = sorted((f["t_excl_s"] for f in runs[0]["functions"]), reverse=True)
	shown = [s for s in ordered if s >= 0.001 * own][:500]
	sums.update(s / own for s in shown if own)
	sums.add(sum(ordered[len(shown):]))
	pairs = runs[0].get("communication_matrix", [])
	sums.add(sum(p["bytes_sent"] for p in pairs if p["from"] is None or p["to"] is None))
	sums.add(sum(p["t_s"] for p in runs[0].get("wait_matrix", []) if p["rank"] is None or p["for"] is None))
	sums.add(sum(max(0.0, r.get("off_cpu_s") or 0.0) for r in times[0]))
	for r in ranks:
		sums.add(class_seconds(r, "mpi_s"))
	return sums


def check_same(what, is_, wanted):
	"""The same JSON; numbers beyond 63 bits are rounded."""
	if isinstance(wanted, dict):
		assert list(is_) == list(wanted), what
		for key in wanted:
			check_same(what + "." + key, is_[key], wanted[key])
	elif isinstance(wanted, list):
		assert len(is_) == len(wanted), what
		for a, b in zip(is_, wanted):
			check_same(what, a, b)
	else:
		assert is_ == wanted or float(is_) == float(wanted), "%s: %r, %r" % (what, is_, wanted)


def shows(text, exact):
	"""True if what is read is the number, rounded."""
	found = re.fullmatch(r"(-?[0-9.e+-]+(?: [0-9]{3})*)(?: (ns|us|ms|s|%|[KMGTPE]iB|B))?", text)
	assert found, text
	factor = UNITS.get(found[2], 1.0)
	read = float(found[1].replace(" ", "")) * factor
	least = (0.051 if found[2] == "%" else 0.0006) * factor # of percent one decimal
	return abs(read - exact) <= 0.006 * abs(exact) + least


def check_shown(report):
	for exact, text in report.data:
		if not shows(text, exact):
			sys.exit("%s is shown for %r" % (text, exact))
	return len(report.data)


def check_rows(report, caption, head, rows, key, exact):
	"""The column `head' is `exact' of the row that `key' names."""
	table = report.tables[caption]
	heads = [cell[0] for cell in table[0]]
	at = heads.index(head)
	for row in table[1:]:
		compare("%s, %s, %s" % (caption, row[0][0], head), row[at][1], rows[row[0][0]][exact])
	return len(table) - 1


def check_order(report):
	"""What took longest is first."""
	for caption in ("Functions of MPI; the least and most time is of a rank that calls it, the mean of all ranks",
		"Locks that threads waited for", "Input and output"):
		if caption in report.tables:
			rows = report.tables[caption]
			at = [cell[0] for cell in rows[0]].index("time")
			times = [row[at][1] for row in rows[1:]]
			assert times == sorted(times, reverse=True), caption


def check_flame(report, run):
	total = sum(s["t_incl_s"] for s in run["stacks"] if s["parent"] == -1)
	paths = {}
	for s in run["stacks"]:
		paths.setdefault(s["function"], []).append(s)
	boxes = [t for t in report.titles["flame"] if not t.startswith("rest: ")]
	for title in boxes:
		name, numbers = title.rsplit(": ", 1)
		found = re.match(r"(\S+) s with callees, (\S+) s own, (\S+) calls?, imbalance (\S+) %", numbers)
		is_ = [float(n) for n in found.groups()]
		for s in paths[name]:
			wanted = [s["t_incl_s"], s["t_excl_s"], s["calls"], s["imbalance_percent"]]
			if all(near(a, b) for a, b in zip(is_, wanted)):
				break
		else:
			sys.exit("no such call path: " + title)
	wanted = sum(s["t_incl_s"] >= 0.001 * total for s in run["stacks"])
	assert len(boxes) == wanted, "%d boxes, %d call paths of 0.1 %%" % (len(boxes), wanted)
	return len(boxes)


def check_difference(report, runs):
	"""Each row of the table of differences, and what the titles of boxes say of the other run."""
	first, second = ({s["path"]: s for s in run["stacks"]} for run in runs[:2])
	table = report.tables["Call paths by the difference of their own time, the first run less the second"]
	own = lambda run, path, key="t_excl_s": max(0.0, run[path][key]) if path in run else 0.0
	for row in table[1:]:
		path = row[0][0]
		compare("difference of " + path, row[1][1], own(first, path) - own(second, path))
		for cell, run, key in zip(row[2:], (first, second) * 2, ("t_excl_s", "t_excl_s", "t_incl_s", "t_incl_s")):
			if path in run:
				compare(path + ", " + key, cell[1], run[path][key])
			else:
				assert cell[1] is None, path
	sizes = [abs(row[1][1]) for row in table[1:]]
	assert sizes and sizes == sorted(sizes, reverse=True)
	wanted = {(p, round(own(second, p, "t_incl_s"), 9), round(own(first, p, "t_incl_s") - own(second, p, "t_incl_s"), 9))
		for p in set(first) & set(second)}
	told = [re.search(r"^(.*): .*in the other run (\S+) s with callees, so (\S+) s here$", t) for t in report.titles["flame"]]
	told = [(m[1], float(m[2]), float(m[3])) for m in told if m]
	assert told
	for name, was, more in told:
		if not any(p.split(" < ")[0] == name and near(was, w) and near(more, d) for p, w, d in wanted):
			sys.exit("no such difference: %s %r %r" % (name, was, more))
	return len(table) - 1 + len(told)


def check_maps(report, run):
	"""Each box of a map of ranks and slices, and each cell of its table."""
	slices = run.get("time_slices")
	n = 0
	for picture, caption, key in (
		("slices-mpi", "Part of each slice of time in MPI, by rank", "mpi_share"),
		("slices-waits", "Part of each slice of time in MPI, waiting for other ranks, by rank", "wait_share"),
		("io-read-over-time", "Bytes read in each slice of time, by rank", "bytes_read"),
		("io-written-over-time", "Bytes written in each slice of time, by rank", "bytes_written"),
	):
		titles = [t for t in report.titles.get(picture, []) if t]
		if not titles:
			continue
		cells = [v for row in slices["rows"] for v in row[key]]
		names = [r["rank"] if r["ranks"] == 1 else "%d-%d" % (r["rank"], r["rank"] + r["ranks"] - 1)
			for r in slices["rows"] for v in r[key] if v is not None]
		drawn = [re.match(r"rank (\S+), from (\S+) (\S+) on, [a-z A-Z]+: (\S+)$", t) for t in titles]
		assert [float(m[4]) for m in drawn] == [v for v in cells if v is not None], picture
		assert [m[1] for m in drawn] == [str(name) for name in names], picture
		table = report.tables[caption]
		assert [c[1] for row in table[1:] for c in row[1:]] == cells, caption
		assert len(table[0]) == 1 + slices["slices"] and len(table) == 1 + len(slices["rows"])
		n += len(titles)
	return n


def bars_of(run, array, within, only, are_bytes, parts):
	"""The elements and the numbers of their parts, the longest first."""
	def numbers_of_rows(elements, count=None):
		for element in elements:
			row = element.get(within) or element if within else element
			if only and row.get(only) is None:
				continue
			number = lambda key: max(0.0, row.get(key, element.get(count, 1) * run[key] if key == "runtime_s" else 0.0) or 0.0)
			yield element, [max(0.0, number(key) - sum(number(k) for k in (less or "").split()))
				for _, key, less in parts]

	bars = [bar for bar in numbers_of_rows(run.get(array, [])) if sum(bar[1]) > 0]
	of_sums, count = SUMS.get(array, (None, None))
	sums = list(numbers_of_rows(run.get(of_sums, []), count))
	bars.sort(key=lambda bar: -sum(bar[1]))
	if len(bars) > BARS_MAX or sums:
		others = bars[BARS_MAX - 1:]
		n = len(others) + sum(element[count] for element, _ in sums)
		means = [sum(of) / n for of in zip(*(numbers for _, numbers in others + sums))]
		bars[BARS_MAX - 1:] = [(None, [math.floor(m + 0.5) for m in means] if are_bytes else means)]
	return bars


def bar_numbers(run):
	return {n for _, array, _, within, only, are_bytes, parts in BARS.values()
		for _, numbers in bars_of(run, array, within, only, are_bytes, parts) for n in numbers}


def check_bars(report, run):
	"""Each part of each bar, and each cell of its table."""
	checked = 0
	for picture, (title, array, (name,), within, only, are_bytes, parts) in BARS.items():
		wanted = bars_of(run, array, within, only, are_bytes, parts)
		wanted = wanted if picture.split("-")[0] in report.ids else []
		assert bool(wanted) == (picture in report.titles), picture
		if not wanted:
			continue
		table = report.tables[title][1:]
		assert len(table) == len(wanted), picture
		shown = [t for t in report.titles[picture] if t]
		for (element, numbers), row in zip(wanted, table):
			assert element is not None or re.match("mean of [0-9]+ others$", row[0][0]), row
			if element is not None:
				text = "".join(before + str(element[key]) for before, key in re.findall("([^{}]*){([a-z]+)}", name)
					if element.get(key) is not None)
				assert row[0][0] == text or "..." in row[0][0] or "?" in row[0][0], (row[0][0], text)
			for number, cell, part in zip(numbers, row[1:], parts):
				assert abs(number - cell[1]) <= (0.01 if are_bytes else 2e-9), (picture, row, number)
				if not number:
					continue
				start = "%s: %s " % (row[0][0], part[0])
				told = shown.pop(0)
				assert told.startswith(start) and told.endswith(" bytes" if are_bytes else " s"), (told, start)
				assert float(told[len(start):].split()[0]) == cell[1], told
				checked += 2
		assert not shown, shown
		# beside each bar its name, and behind it the sum of its parts
		beside = report.texts[picture][-2 * len(wanted):]
		for (_, numbers), text in zip(wanted, beside[1::2]):
			assert shows(text, sum(numbers)), (picture, text, numbers)
			checked += 1
	return checked


COLUMNS_MOST = 450


def check_iterations(report, run):
	"""Each column of the picture: the mean of its iterations, and the longest one."""
	if "iterations-times" not in report.titles:
		assert not run.get("iterations", {}).get("steps"), "iterations without a picture"
		return 0
	steps = run["iterations"]["steps"]
	each = (len(steps) + COLUMNS_MOST - 1) // COLUMNS_MOST
	columns = [steps[i:i + each] for i in range(0, len(steps), each)]
	titles = [t for t in report.titles["iterations-times"] if t.startswith("mean ")]
	assert titles[0::2] == titles[1::2], "a bar and its mean have different titles"
	assert len(titles) == 2 * len(columns), "%d columns, not %d" % (len(titles) / 2, len(columns))
	for title, column in zip(titles[0::2], columns):
		m = re.match(r"mean (\S+) s; longest: iteration (\d+), (\S+) s on rank (\d+)$", title)
		longest = max(column, key=lambda s: s["most_s"])
		calls = sum(s["iterations"] for s in column)
		compare(title, float(m[1]), sum(s["iterations"] * s["mean_s"] for s in column) / calls)
		compare(title, float(m[3]), longest["most_s"])
		assert int(m[2]) == longest["most_at"] and int(m[4]) == longest["most_rank"], title
	rows = report.tables["Iterations"]
	assert len(rows) > 500 or len(rows) - 1 == len(steps), "rows of iterations"
	return 4 * len(columns)


def check_texts(report):
	"""What stands beside bars that have one part each is that part, rounded."""
	n = 0
	for picture, shown in (("efficiency-bars", r"-?[0-9.]+ %"),):
		told = [t.rsplit(": ", 1)[1] for t in report.titles.get(picture, []) if t]
		texts = [t for t in report.texts.get(picture, []) if re.fullmatch(shown, t)]
		assert not told or len(texts) == len(told) + 1, (picture, texts, told) # the last one is the line's
		for exact, text in zip(told, texts):
			assert shows(text, float(exact)), (picture, exact, text)
			n += 1
	return n


# whose titles have a number at their end that is one of the JSON or a sum of some, which no other check has
NUMBERS_ALONE = ("time-classes", "balance-ranks", "efficiency-bars", "waits-delays", "communication-sizes")
CHECKED = {*NUMBERS_ALONE, *BARS, "flame", "slices-mpi", "slices-waits", "io-read-over-time", "io-written-over-time", "waits-cells", "communication-cells",
	"iterations-times"}


def check_waits(report, run):
	"""Each square of who waited for whom, and each row of its table."""
	pairs = run.get("wait_matrix", [])
	cells = {}
	for title in report.titles.get("waits-cells", []):
		if title:
			m = re.match(r"rank (\d+)(?:-(\d+))? waited for (\d+)(?:-(\d+))?: (\S+) s$", title)
			cells[int(m[1]), int(m[3])] = float(m[5])
			each = int(m[2] or m[1]) - int(m[1]) + 1
	wanted = {}
	for p in pairs:
		if p["t_s"] > 0 and p["for"] is not None and p["rank"] is not None:
			at = p["rank"] // each * each, p["for"] // each * each
			wanted[at] = wanted.get(at, 0.0) + p["t_s"]
	assert set(cells) == set(wanted), "other squares of waits"
	for at in cells:
		compare("waits of %d for %d" % at, cells[at], wanted[at])
	if not pairs:
		return 0
	rows = report.tables["Waits of ranks for ranks"]
	told = sorted((row[2][1], row[0][1], -1.0 if row[1][1] is None else row[1][1]) for row in rows[1:])
	assert len(pairs) > 500 or told == sorted((p["t_s"], p["rank"], -1 if p["for"] is None else p["for"]) for p in pairs)
	return len(cells) + len(told)


def main(argv):
	text = open(argv[1], encoding="utf-8").read()
	runs = [json.load(open(path, encoding="utf-8")) for path in argv[2:]]
	report = Report()
	report.feed(text)
	assert not report.open, report.open
	assert report.described <= report.ids
	for link in report.links:
		assert link[0] == "#" and link[1:] in report.ids, link
	embedded = json.loads(report.json)
	for key, value in runs[0].items():
		# the digest is at most 15 lines, one of which names the folder of the JSON
		if key == "communicators": # the page has the first ones of very many
			value = value[:max(len(embedded[key]), 1000)]
		if key not in ("stacks", "functions", "digest"):
			check_same(key, embedded[key], value)

	known = numbers_of(runs, set())
	sums = sums_of(runs) | bar_numbers(runs[0])
	if len(runs) > 1:
		for row in report.tables["Call paths by the difference of their own time, the first run less the second"][1:]:
			sums.add(row[1][1]) # see check_difference()
	for exact, shown in report.data:
		if exact not in known and not any(near(exact, s) for s in sums):
			sys.exit("%r (%s) is in no JSON" % (exact, shown))
	n = check_rows(report, "Functions by their own time, summed over all ranks and threads", "own time",
		{f["function"]: f for f in runs[0]["functions"]}, "function", "t_excl_s")
	own = sum(s["t_excl_s"] for s in runs[0]["stacks"])
	n += check_rows(report, "Functions by their own time, summed over all ranks and threads", "part of all",
		{f["function"]: {"part": f["t_excl_s"] / own} for f in runs[0]["functions"]}, "function", "part")
	check_order(report)
	n += check_shown(report)
	n += check_flame(report, runs[0])
	n += check_maps(report, runs[0])
	n += check_waits(report, runs[0])
	n += check_bars(report, runs[0])
	n += check_iterations(report, runs[0])
	n += check_texts(report)
	assert set(report.titles) <= CHECKED, "no check of %s" % (set(report.titles) - CHECKED)
	if len(runs) > 1:
		n += check_difference(report, runs)
		others = {f["function"]: f["t_excl_s"] for f in runs[1]["functions"]}
		table = report.tables["Functions by their own time, summed over all ranks and threads"]
		for row in table[1:]:
			assert row[5][1] == others.get(row[0][0]), row
	for picture in NUMBERS_ALONE:
		for title in report.titles.get(picture, []):
			number = float(re.search(r": (?:[^:0-9]* )?([0-9.e+-]+)(?: s)?$", title)[1])
			if number not in known and not any(near(number, s) for s in sums | known):
				sys.exit("%s: %s is in no JSON" % (picture, title))
			n += 1
	pairs = runs[0].get("communication_matrix", [])
	sent = sum(p["bytes_sent"] for p in pairs if p["from"] is not None and p["to"] is not None)
	cells = [t for t in report.titles.get("communication-cells", []) if t]
	drawn = sum(float(re.search(r": ([0-9]+) bytes$", t)[1]) for t in cells)
	assert drawn == sent, "%r bytes in the picture, %r in the JSON" % (drawn, sent)
	print("%d numbers, %d tables, %d pictures" % (n + len(cells), len(report.tables), len(report.titles)))


main(sys.argv)
