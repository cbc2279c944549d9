#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mutate.py OBJ NUMBER SEED [FILE.c...]: do the units notice a mistake?

Makes NUMBER small changes, one after the other, at random places of the FILEs (those of the rooms in
ROOMS), builds the units of the file's room, and runs them. A change that no unit notices is a
survivor; OBJ/survivors has them all. Some are no mistakes, as where both ways do the same. The
working tree must be that of the last commit, and is again when this ends.
"""
import os
import random
import re
import signal
import subprocess
import sys

# the room of a file, and whose units look at it
ROOMS = {
    "shm": "shm",
    "conf": "conf",
    "nodeagent/replay": "replay",
    "nodeagent/trace": "trace",
    "nodeagent/match": "match",
    "nodeagent/net": "net",
    "nodeagent/profile": "profile",
    "nodeagent/collate": "collate",
    "nodeagent/internode": "internode",
    "nodeagent/clock": "clock",
    "nodeagent/readers": "readers",
}

# what is found in a line of code, and what is put there
CHANGES = [
    (r"(?<=[\w)\]] )<(?= [\w(*&!-])", "<="),
    (r"(?<=[\w)\]] )<=(?= )", "<"),
    (r"(?<=[\w)\]] )>(?= [\w(*&!-])", ">="),
    (r"(?<=[\w)\]] )>=(?= )", ">"),
    (r" == ", " != "),
    (r" != ", " == "),
    (r" && ", " || "),
    (r" \|\| ", " && "),
    (r"(?<=[\w)\]]) \+ ", " - "),
    (r"(?<=[\w)\]]) - ", " + "),
    (r" \+= ", " -= "),
    (r" -= ", " += "),
    (r"\+\+(?=[;\])])", "--"),
    (r"return true;", "return false;"),
    (r"return false;", "return true;"),
    (r"\bif \((.*)\)$", r"if (!(\1))"),
    (r" >> ", " << "),
    (r" \| (?=[A-Z(])", " & "),
    (r"(?<![\w.'\"])([1-9])(?![\w.'\"])", lambda m: str(int(m.group(1)) + 1)),
    (r"^\t+[\w>.\[\]-]+ = .*;$", ";"),
    (r"^\t+[a-z_]\w*\(.*\);$", ";"),
    (r"^\t+(break|continue);$", ";"),
]
SECONDS = 300  # that units may take together; a change that makes them slower is noticed


def room_of(file):
    folder = os.path.dirname(file)
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return ROOMS.get(folder)


def units_of(obj, room):
    folder = f"t/unit/{room}"
    return [f"{obj}/{folder}/{name[:-2]}" for name in sorted(os.listdir(folder))
            if name.startswith("u-") and name.endswith(".c")]


def code_lines(text):
    """The lines that have code, without comments, preprocessor, declarations of constants."""
    in_comment = False
    for number, line in enumerate(text):
        bare = line.strip()
        if in_comment or bare.startswith("/*"):
            in_comment = "*/" not in bare
            continue
        if line.startswith("\t") and not bare.startswith(("#", "static ", "const char")) \
                and '"' not in line:
            yield number


def changes_of(text):
    for number in code_lines(text):
        for pattern, new in CHANGES:
            for m in re.finditer(pattern, text[number]):
                changed = text[number][:m.start()] + m.expand(new) + text[number][m.end():] \
                    if isinstance(new, str) \
                    else text[number][:m.start()] + new(m) + text[number][m.end():]
                yield number, changed


def run(command, seconds):
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True) as p:
        try:
            return p.wait(seconds)
        except BaseException as error:  # whoever ends this does not wait for it
            os.killpg(p.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return -1
            raise


def build(obj, units):
    return run(["make", "-s", f"O={obj}", f"-j{os.cpu_count()}", *units], 1200) == 0


def notice(units):
    """The unit that fails, or None."""
    for unit in units:
        if run([unit], SECONDS):
            return os.path.basename(unit)
    return None


def write(path, text):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(text) + "\n")


def attempt(obj, file, text, change):
    """What became of it: "broken" (does not compile), the unit's name, or None."""
    units = units_of(obj, room_of(file))
    number, line = change
    try:
        write(file, text[:number] + [line] + text[number + 1:])
        return notice(units) if build(obj, units) else "broken"
    finally:
        write(file, text)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__.splitlines()[0])
    obj, most, dice = sys.argv[1], int(sys.argv[2]), random.Random(int(sys.argv[3]))
    if subprocess.run(["git", "diff", "--quiet", "HEAD"], check=False).returncode:
        sys.exit("mutate.py: the working tree is not that of the last commit")
    files = sys.argv[4:] or [f for f in subprocess.run(
        ["git", "ls-files", "*.c"], stdout=subprocess.PIPE, check=True,
        text=True).stdout.split() if not f.startswith("t/") and room_of(f)]
    texts = {}
    for file in files:
        with open(file, encoding="utf-8") as f:
            texts[file] = f.read().splitlines()
    places = [(file, change) for file in files for change in changes_of(texts[file])]
    killed = survived = 0
    sys.stdout.reconfigure(line_buffering=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with open(f"{obj}/survivors", "w", encoding="utf-8") as out:
        for file, change in dice.sample(places, len(places)):
            if killed + survived == most:
                break
            fate = attempt(obj, file, texts[file], change)
            if fate == "broken":
                continue
            number, line = change
            was = texts[file][number].strip()
            print(f"{fate or 'SURVIVED'}\t{file}:{number + 1}\t{was}\t{line.strip()}")
            killed += fate is not None
            survived += fate is None
            if not fate:
                out.write(f"{file}:{number + 1}\n-\t{was}\n+\t{line.strip()}\n")
    print(f"{killed} of {killed + survived} changes were noticed by units of their room: "
          f"{100 * killed / max(1, killed + survived):.0f} %")


main()
