#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""coverage.py OBJ [LIST]: what tests have run of a build with --coverage in OBJ.

Prints lines and branches of each folder, in percent, and writes to LIST each line that nothing
ran, as FILE:LINE: TEXT, and each branch that nothing took. A file that is compiled several times,
or a header that several files include, counts once: what one of them has run is run.
"""
import collections
import json
import os
import subprocess
import sys

ROOMS = ("conf", "cupti", "libhook", "mpi", "nodeagent", "shm")


class Lines:
    """Of one file: how often each line was run, and each of its branches taken."""

    def __init__(self):
        self.runs = collections.defaultdict(int)
        self.branches = {}

    def add(self, line):
        number = line["line_number"]
        self.runs[number] += line["count"]
        taken = [b["count"] for b in line["branches"] if not b["throw"]]
        seen = self.branches.setdefault(number, taken)
        if seen is not taken and len(seen) == len(taken):
            self.branches[number] = [a + b for a, b in zip(seen, taken)]
        elif len(seen) < len(taken):  # compiled in another way: the one that knows more
            self.branches[number] = taken

    def totals(self):
        ways = [n for taken in self.branches.values() for n in taken]
        return (sum(n > 0 for n in self.runs.values()), len(self.runs),
                sum(n > 0 for n in ways), len(ways))


def counters(obj):
    """Notes of all objects: those without counters were never run."""
    for folder, _, names in os.walk(obj):
        for name in sorted(names):
            if name.endswith(".gcno"):
                yield os.path.join(folder, name)


def read(obj, files):
    notes = list(counters(obj))
    if not notes:
        sys.exit(f"coverage.py: nothing in {obj} is compiled with --coverage")
    for at in range(0, len(notes), 50):
        out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities",
                              *notes[at:at + 50]], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, check=False).stdout
        for text in out.splitlines():
            if not text.startswith(b"{"):
                continue
            for file in json.loads(text)["files"]:
                name = os.path.normpath(file["file"])
                if name.split(os.sep)[0] in ROOMS:
                    for line in file["lines"]:
                        files[name].add(line)


def percent(part, whole):
    return f"{100 * part / whole:8.1f}" if whole else "       -"


def table(files):
    rooms = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, lines in files.items():
        for room in {os.path.dirname(name), "all"}:
            rooms[room] = [a + b for a, b in zip(rooms[room], lines.totals())]
    print(f"{'folder':36} {'lines':>8} {'run %':>8} {'branches':>9} {'taken %':>8}")
    for room in sorted(rooms, key=lambda r: (r == "all", r)):
        run, lines, taken, branches = rooms[room]
        print(f"{room:36} {lines:8} {percent(run, lines)} {branches:9} {percent(taken, branches)}")


def write_list(files, path):
    with open(path, "w", encoding="utf-8") as out:
        for name in sorted(files):
            try:
                with open(name, encoding="utf-8") as source:
                    text = source.read().splitlines()
            except OSError:
                text = []
            for number in sorted(files[name].runs):
                words = text[number - 1].strip() if number <= len(text) else ""
                if not files[name].runs[number]:
                    out.write(f"{name}:{number}: not run: {words}\n")
                elif not all(files[name].branches[number]):
                    out.write(f"{name}:{number}: a branch not taken: {words}\n")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.splitlines()[0])
    files = collections.defaultdict(Lines)
    read(sys.argv[1], files)
    table(files)
    if len(sys.argv) == 3:
        write_list(files, sys.argv[2])


main()
