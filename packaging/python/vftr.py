# SPDX-License-Identifier: BSD-3-Clause
"""Reads what vftr has written of a run. Needs nothing but Python 3.8; see vftr-python(3).

    import vftr
    run = vftr.open("a.out_all.json")    # or the folder that holds it
    for row in sorted(run.functions, key=lambda row: -row["t_excl_s"])[:10]:
        print(row["function"], row["calls"], row["t_excl_s"])

Tables are sequences of dicts. Times are seconds, but for the time line, which has
nanoseconds. What is wrong with a file is an exception vftr.Error, one sentence.
"""
import argparse
import array
import collections.abc
import csv
import gc
import heapq
import io
import json
import operator
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings

__all__ = ["Error", "Node", "Run", "Table", "open"]

FORMAT, VERSION = "vftr-profile", 1
SAMPLING = b"VFTRVFD\n"
NODE_PROFILE = b"VFTRVFP\n"
RANKS_MOST = 1 << 24  # more are a damaged file

# Columns of tables that may be empty, so that a question about them has an answer
COLUMNS = {
    "mpi": "id function caller sends recvs bytes_sent bytes_received t_send_s t_recv_s t_comm_s"
           " send_bandwidth recv_bandwidth",
    "findings": "rule text seconds percent evidence try manual",
    "communication_matrix": "from to sends bytes_sent recvs bytes_received",
}
# Columns that others rely on, and what they must be
NUMBER = (int, float)
TREE = {"id": (int,), "parent": (int,), "function": (str,), "path": (str,), "calls": (int,),
        "t_incl_s": NUMBER, "t_excl_s": NUMBER}
FUNCTIONS = {"function": (str,), "calls": (int,), "t_incl_s": NUMBER, "t_excl_s": NUMBER}


class Error(Exception):
    """What is wrong, in one sentence with the path."""


# ---- JSON, an element after the other ------------------------------------------------------


def _no_constant(name):
    raise ValueError("%s is no number of JSON" % name)


class _Stream:
    """The values of a JSON text, of which only a part is in memory."""

    CHUNK = 1 << 20
    VALUE_MOST = 1 << 28  # characters of one element

    _decode = staticmethod(json.JSONDecoder(parse_constant=_no_constant).raw_decode)
    _blanks = re.compile(r"[ \t\n\r]*").match
    _comma = re.compile(r"[ \t\n\r]*,[ \t\n\r]*").match

    def __init__(self, file, path):
        self.file, self.path = file, path
        self.text, self.at, self.line = "", 0, 1

    def fail(self, why):
        line = self.line + self.text.count("\n", 0, self.at)
        raise Error("%s: line %d: %s" % (self.path, line, why))

    def more(self):
        """Appends another part of the file to the text; False at its end."""
        try:
            part = self.file.read(max(self.CHUNK, len(self.text) - self.at))
        except (OSError, UnicodeError) as e:
            raise Error("%s: can't be read: %s" % (self.path, e)) from None
        if part:
            self.line += self.text.count("\n", 0, self.at)
            self.text, self.at = self.text[self.at:] + part, 0
        return bool(part)

    def peek(self):
        """The first character of the next token, or "" at the end."""
        while True:
            self.at = self._blanks(self.text, self.at).end()
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, wanted):
        c = self.peek()
        if c != wanted:
            self.fail("%s where `%s' should be" % ("`%s'" % c if c else "the end", wanted))
        self.at += 1

    def value(self):
        self.peek()
        while True:
            why = None
            try:
                value, end = self._decode(self.text, self.at)
            except RecursionError:
                self.fail("it is nested too deeply")
            except ValueError as e:
                why = getattr(e, "msg", None) or str(e)
            # a number may go on behind the end of what is here
            if why is None and (end + 3 < len(self.text) or
                                end < len(self.text) and self.text[end] not in ".eE"):
                self.at = end
                return value
            if len(self.text) - self.at > self.VALUE_MOST:
                self.fail("one value of more than %d characters" % self.VALUE_MOST)
            if not self.more():
                if why is not None:
                    self.fail(why)
                self.at = end
                return value

    def members(self):
        """Keys of an object; the caller takes the value before it asks for the next key."""
        self.take("{")
        if self.peek() == "}":
            self.at += 1
            return
        while True:
            if self.peek() != '"':
                self.fail("no name of a member")
            key = self.value()
            self.take(":")
            yield key
            if self.peek() != ",":
                break
            self.at += 1
        self.take("}")

    def elements(self):
        self.take("[")
        if self.peek() == "]":
            self.at += 1
            return
        decode, comma = self._decode, self._comma
        while True:
            yield self.value()
            # most elements and commas lie in the text as a whole: a short way for them
            while True:
                match = comma(self.text, self.at)
                if not match:
                    break
                try:
                    value, end = decode(self.text, match.end())
                except (ValueError, RecursionError):
                    break
                if end + 3 >= len(self.text):
                    break
                self.at = end
                yield value
            if self.peek() != ",":
                break
            self.at += 1
        self.take("]")

    def end(self):
        if self.peek():
            self.fail("something behind the end of the JSON")


# ---- tables ----------------------------------------------------------------------------------


class _Column:
    """The values of a column; integers and reals lie side by side in 8 bytes each."""

    __slots__ = ("values", "kinds")
    BARE = {int: "q", float: "d"}

    def __init__(self, missing=0):
        self.values = [None] * missing
        self.kinds = {type(None)} if missing else set()

    def extend(self, part):
        kinds = set(map(type, part))
        new = self.kinds | kinds
        if len(new) == 1 and not self.kinds and min(new) in self.BARE:
            self.values = array.array(self.BARE[min(new)])
        elif new != self.kinds:
            self.values = list(self.values)
        self.kinds = new
        if kinds == {str} and 2 * len(set(part)) < len(part):
            part = list(map(sys.intern, part))  # names come again and again
        n = len(self.values)
        try:
            self.values.extend(part)
        except OverflowError:  # beyond 64 bits with sign
            self.values = list(self.values[:n]) + list(part)


class Table(collections.abc.Sequence):
    """A sequence of rows, each a dict with the same columns; None: not known there."""

    __slots__ = ("name", "columns", "_data", "_n")

    def __init__(self, name, columns=(), data=(), n=None):
        self.name, self.columns = name, tuple(columns)
        self._data = list(data) or [[] for _ in self.columns]
        self._n = len(self._data[0]) if n is None and self._data else n or 0

    def __len__(self):
        return self._n

    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(self._n))]
        if not -self._n <= i < self._n:
            raise IndexError("the table %s has %d rows" % (self.name, self._n))
        return {name: values[i] for name, values in zip(self.columns, self._data)}

    def _rows(self):
        return zip(*self._data) if self._data else iter([()] * self._n)

    def __iter__(self):
        columns = self.columns
        for row in self._rows():
            yield dict(zip(columns, row))

    def __repr__(self):
        return "<Table %s: %d rows of %s>" % (self.name, len(self), ", ".join(self.columns))

    def column(self, name):
        """All values of one column, as a sequence that is not to be changed."""
        if name not in self.columns:
            raise Error("the table %s has no column `%s'" % (self.name, name))
        return self._data[self.columns.index(name)]

    def dataframe(self):
        """A DataFrame of pandas, where that is installed."""
        try:
            import pandas
        except ImportError:
            raise Error("dataframe() needs pandas, which is not installed here") from None
        return pandas.DataFrame(dict(zip(self.columns, map(list, self._data))),
                                columns=list(self.columns))

    def write_csv(self, file):
        """Comma-separated values with a line of names; lists and objects as JSON."""
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        for row in self._rows():
            writer.writerow([json.dumps(v) if isinstance(v, (list, dict, bool)) else v
                             for v in row])


class _Gathering:
    """A table while it is read: rows wait until there are enough of one kind."""

    BATCH = 4096

    def __init__(self, name):
        self.name, self.columns, self.n = name, [], 0
        self.data = {key: _Column() for key in COLUMNS.get(name, "").split()}
        self.keys, self.batch = None, []

    def flush(self):
        if not self.batch:
            return
        here = len(self.batch)
        given = dict(zip(self.keys, zip(*self.batch)))
        for key in given:
            if key not in self.data:
                self.data[key] = _Column(self.n)
        for key, column in self.data.items():
            column.extend(given.get(key) or [None] * here)
        self.n += here
        self.batch = []

    def read(self, stream):
        for element in stream.elements():
            if type(element) is not dict:
                element = {"value": element}
            keys = tuple(element)
            if keys != self.keys or len(self.batch) == self.BATCH:
                self.flush()
                self.keys = keys
            self.batch.append(tuple(element.values()))
        self.flush()
        return Table(self.name, self.data, [c.values for c in self.data.values()], self.n)


class Node:
    """A call path in the tree of a run."""

    __slots__ = ("_run", "id")

    def __init__(self, run, number):
        self._run, self.id = run, number

    def __repr__(self):
        return "<Node %d: %s>" % (self.id, self.path)

    def __eq__(self, other):
        return isinstance(other, Node) and self._run is other._run and self.id == other.id

    def __hash__(self):
        return hash(self.id)

    def _get(self, column):
        return self._run._tree[column][self.id]

    @property
    def row(self):
        """Its row of the table stacks."""
        return self._run.stacks[self.id]

    @property
    def function(self):
        return self._get("function")

    @property
    def path(self):
        return self._get("path")

    @property
    def calls(self):
        return self._get("calls")

    @property
    def inclusive(self):
        """Seconds with the functions called from here, summed over ranks."""
        return self._get("t_incl_s")

    @property
    def exclusive(self):
        """Seconds without them."""
        return self._get("t_excl_s")

    @property
    def parent(self):
        """The caller's node; None of a root."""
        number = self._get("parent")
        return None if number < 0 else Node(self._run, number)

    @property
    def children(self):
        return [Node(self._run, i) for i in self._run._children[self.id]]

    def walk(self):
        """Itself and all below it, each before its children."""
        open_ones = [self.id]
        while open_ones:
            number = open_ones.pop()
            yield Node(self._run, number)
            open_ones.extend(reversed(self._run._children[number]))


# ---- a run -------------------------------------------------------------------------------------


class Run:
    """The results of a run: of its profile (path), and of its sampling files (traces)."""

    def __init__(self, path, traces=(), vftr=None):
        self.path, self.traces, self._vftr = path, list(traces), vftr
        self.summary = {}  # members of the profile that are no tables
        self._tables, self._tree, self._kids = {}, None, None

    # ---- tables

    def tables(self):
        """The names of all tables."""
        self._need_profile()
        return sorted(set(self._tables) | set(_DERIVED))

    def table(self, name):
        """A table by the name of its member, vftr-profile(5), or messages, pairs, ranks."""
        self._need_profile()
        if name not in self._tables and name in _DERIVED:
            self._tables[name] = _DERIVED[name](self)
        if name not in self._tables:
            raise Error("%s: there is no table `%s' in it" % (self.path, name))
        return self._tables[name]

    @property
    def stacks(self):
        """Call paths."""
        return self.table("stacks")

    @property
    def functions(self):
        return self.table("functions")

    @property
    def messages(self):
        """Messages by call path."""
        return self.table("messages")

    @property
    def pairs(self):
        """Messages by the ranks that have sent and received them."""
        return self.table("pairs")

    @property
    def ranks(self):
        return self.table("ranks")

    @property
    def findings(self):
        """What is worth mending, sentences with their evidence; vftr-analysis(7)."""
        return self.table("findings")

    @property
    def started(self):
        """How the run was started, a dict: command, directory, time, tags and so on.

        It is empty where that is not known, and a command may be missing.
        """
        self._need_profile()
        started = self.summary.get("started", {})
        if not isinstance(started, dict) or not isinstance(started.get("tags", {}), dict):
            raise Error("%s: what it says of the run's start is no object" % self.path)
        return started

    @property
    def tags(self):
        """What the user has said of the run with --tag or output.tags, a dict of texts."""
        return self.started.get("tags", {})

    def _need_profile(self):
        if self.path is None:
            raise Error("%s: a sampling file has a time line, but no tables; open the profile "
                        "(BASE_all.json)" % self.traces[0])

    # ---- the call tree

    @property
    def _children(self):
        if self._kids is None:
            self._kids = self._make_children()
        return self._kids

    def _make_children(self):
        parents = self._tree["parent"]
        kids = [[] for _ in parents]
        for i, parent in enumerate(parents):
            if parent >= 0:
                kids[parent].append(i)
        reached, open_ones = 0, [i for i, parent in enumerate(parents) if parent < 0]
        while open_ones:
            reached += 1
            open_ones.extend(kids[open_ones.pop()])
        if reached != len(parents):
            raise Error("%s: a call path is its own caller" % self.path)
        return kids

    @property
    def roots(self):
        """Nodes without a caller."""
        self._need_profile()
        parents = self._tree["parent"]
        self._children  # which finds paths that no root leads to
        return [Node(self, i) for i, parent in enumerate(parents) if parent < 0]

    def node(self, number):
        """The node of a call path by its id, the STID of the logs."""
        self._need_profile()
        if not 0 <= number < len(self.stacks):
            raise Error("%s: there is no call path %s in it" % (self.path, number))
        return Node(self, number)

    def walk(self):
        """All nodes, each before its children."""
        for root in self.roots:
            yield from root.walk()

    def hatchet_literal(self):
        """The tree as hatchet.GraphFrame.from_literal() takes it: time and calls."""
        made, roots = {}, []
        for node in self.walk():
            metrics = {"time": float(node.exclusive), "time (inc)": float(node.inclusive),
                       "calls": node.calls}
            made[node.id] = {"frame": {"name": node.function, "type": "function"},
                             "metrics": metrics, "children": []}
            parent = node.parent
            (roots if parent is None else made[parent.id]["children"]).append(made[node.id])
        return roots

    # ---- the time line

    def timeline(self, ranks=None, start=None, end=None):
        """Events in the order of time, as dicts; vftr-python(3) has their columns.

        ranks: a list as "0,2-5". start, end: as `vftr dump' takes them, "2.5" or "300ms".
        """
        if not self.traces:
            raise Error("%s: there are no sampling files (BASE_HOST.vfd) beside it" % self.path)
        events = sorted({_event_in(p) for p in self.traces})
        if len(events) > 1:
            raise Error("%s: its sampling files are of several events (%s): open those of one"
                        % (self.path, ", ".join(e or "the whole run" for e in events)))
        options = []
        for option, value in (("--ranks", ranks), ("--from", start), ("--to", end)):
            if value is not None:
                options += [option, str(value)]
        each = [_events(_find_vftr(self._vftr), options, path) for path in self.traces]
        # the files of a run have one time: 0 is the start of the job
        return each[0] if len(each) == 1 else heapq.merge(*each, key=lambda e: e["t_ns"])


def _make_messages(run):
    mpi, paths = run.table("mpi"), run.stacks.column("path")
    ids = mpi.column("id")
    if not all(type(i) is int and 0 <= i < len(paths) for i in ids):
        raise Error("%s: messages of a call path that is not there" % run.path)
    return Table("messages", ("path",) + mpi.columns, [[paths[i] for i in ids]] + mpi._data)


def _make_pairs(run):
    matrix = run.table("communication_matrix")
    return Table("pairs", matrix.columns, matrix._data)


_LIVES = ("runtime_s", "calls", "events", "lost", "blocked_s")
_ENDS = {"from": ("sends", "bytes_sent"), "to": ("recvs", "bytes_received")}


def _add(sums, rank, row, columns):
    for column in columns:
        if 0 <= rank < len(sums[column]):
            sums[column][rank] = (sums[column][rank] or 0) + row[column]


def _hosts(run, places, n):
    agents = list(run._tables.get("agents", ()))
    hosts = [agents[0]["host"] if len(agents) == 1 else None] * n
    for place in places:
        for rank in range(max(place["first"], 0), place["last"] + 1, place.get("step") or 1):
            hosts[rank] = place["host"]
    return hosts


def _make_ranks(run):
    """Where each was, what its processes did, what it has sent.

    The former is not known of several nodes, nor the latter where the matrix has groups.
    """
    places = list(run._tables.get("places", ()))
    try:
        single = run.summary.get("communication_matrix_ranks", 1) == 1
        n = max([run.summary["ranks"]] + [place["last"] + 1 for place in places])
        if run.summary.get("other_ranks"):  # of other jobs; they are among the unranked ones
            n = max(n, run.summary["ranks"] + run.summary["unranked"])
        if not 0 <= n <= RANKS_MOST:
            raise ValueError
        hosts = _hosts(run, places, n)
        sums = {column: [None] * n for column in _LIVES}
        sums.update({c: [0 if single else None] * n for end in _ENDS.values() for c in end})
        for process in run._tables.get("each_process", ()):
            _add(sums, process["rank"], process, _LIVES)
        for pair in run.pairs if single else ():
            for end, columns in _ENDS.items():
                if pair[end] is not None:
                    _add(sums, pair[end], pair, columns)
    except (KeyError, TypeError, ValueError):
        raise Error("%s: its ranks, processes, places and communication_matrix make no table of "
                    "ranks" % run.path) from None
    return Table("ranks", ("rank", "host") + tuple(sums),
                 [range(n), hosts] + list(sums.values()))


_DERIVED = {"messages": _make_messages, "pairs": _make_pairs, "ranks": _make_ranks}


# ---- reading a profile -----------------------------------------------------------------------


def _checked(run, name, wanted):
    """Columns of a table, after a look at each value."""
    table, columns = run._tables[name], {}
    for column, kinds in wanted.items():
        columns[column] = table.column(column) if column in table.columns else [None] * len(table)
        for kind in set(map(type, columns[column])) - set(kinds):
            raise Error("%s: a row of %s whose `%s' is %s" % (run.path, name, column, {
                type(None): "missing"}.get(kind, "of another type")))
    return columns


def _check_tree(run):
    stacks = run._tables["stacks"]
    tree = _checked(run, "stacks", TREE)
    if any(map(operator.ne, tree["id"], range(len(stacks)))):
        raise Error("%s: call paths that are not numbered from 0 on" % run.path)
    if tree["parent"] and not -1 <= min(tree["parent"]) <= max(tree["parent"]) < len(stacks):
        raise Error("%s: a call path whose caller is not there" % run.path)
    run._tree = tree


def _read_members(run, stream):
    for key in stream.members():
        if stream.peek() == "[":
            run._tables[key] = _Gathering(key).read(stream)
        else:
            run.summary[key] = stream.value()
        if key == "format" and run.summary.get(key) != FORMAT:
            raise Error("%s: no profile of vftr (BASE_all.json), but `%s'"
                        % (run.path, run.summary.get(key)))
        if key == "version" and run.summary.get(key) != VERSION:
            raise Error("%s: version %s of the profile's format; this vftr.py reads version %d"
                        % (run.path, run.summary.get(key), VERSION))
    stream.end()


def _read_profile(run):
    collecting = gc.isenabled()
    gc.disable()  # there is no circle in what is read, and much of it
    try:
        with io.open(run.path, encoding="utf-8-sig", newline="") as file:
            _read_members(run, _Stream(file, run.path))
    except OSError as e:
        raise Error("%s: %s" % (run.path, e.strerror or e)) from None
    finally:
        if collecting:
            gc.enable()
    if not ({"format", "version"} <= set(run.summary) and
            {"stacks", "functions"} <= set(run._tables)):
        raise Error("%s: it is JSON, but no profile (BASE_all.json) of vftr" % run.path)
    for name in COLUMNS:
        run._tables.setdefault(name, Table(name, COLUMNS[name].split()))
    _checked(run, "functions", FUNCTIONS)
    _check_tree(run)


# ---- files -----------------------------------------------------------------------------------


def _head(path):
    try:
        with io.open(path, "rb") as file:
            return file.read(len(SAMPLING))
    except OSError as e:
        raise Error("%s: %s" % (path, e.strerror or e)) from None


def _traces_in(folder, base):
    """The sampling files of a run: BASE_HOST.vfd, or HOST.vfd; base: "" for these, None for all."""
    names = sorted(n for n in os.listdir(folder) if n.endswith(".vfd"))
    if base == "":
        names = [n for n in names if "_" not in n]
    elif base is not None:
        names = [n for n in names if n.startswith(base + "_") and "_" not in n[len(base) + 1:]]
    paths = [os.path.join(folder, n) for n in names]
    return [p for p in paths if os.path.isfile(p) and _head(p) == SAMPLING]


def _event_in(path):
    """What a file of the flight recorder was written for: "slow137"; "": it is of the whole run."""
    found = re.search(r"[_-]((?:slow|signal|request)[0-9]+|death-(?:rank|pid)[0-9]+)\.vfd$",
                      os.path.basename(path))
    return found.group(1) if found else ""


def _newest_in(folder, names):
    """The newest BASE_all.json, of a whole run rather than of one round of a session; or None."""
    found = [n for n in names if n.endswith("_all.json")]
    found = [n for n in found if not re.search(r"\.round[0-9]+_all\.json$", n)] or found
    return max((os.path.join(folder, n) for n in found), default=None,
               key=lambda p: (os.stat(p).st_mtime_ns, p))


def _find_in(folder):
    """The newest profile of a folder, and the sampling files of its run."""
    try:
        names = os.listdir(folder)
        if "profile.json" in names:
            return os.path.join(folder, "profile.json"), _traces_in(folder, "")
        newest = _newest_in(folder, names)
        if newest:
            return newest, _traces_in(folder, os.path.basename(newest)[:-len("_all.json")])
        traces = _traces_in(folder, None)
    except OSError as e:
        raise Error("%s: %s" % (folder, e.strerror or e)) from None
    if not traces and any(n.endswith(".vfp") for n in names):
        raise Error("%s: it has node profiles, but no profile; `vftr collate %s' makes one"
                    % (folder, folder))
    if not traces:
        raise Error("%s: neither a profile (profile.json, BASE_all.json) nor sampling files in it"
                    % folder)
    if len({os.path.basename(p).rpartition("_")[0] for p in traces}) > 1:
        raise Error("%s: sampling files of several runs; name one" % folder)
    return None, traces


def _find_beside(path):
    """The sampling files of a profile's run."""
    folder, name = os.path.split(path)
    if name != "profile.json" and not name.endswith("_all.json"):
        return []
    base = "" if name == "profile.json" else name[:-len("_all.json")]
    try:
        return _traces_in(folder or ".", base)
    except OSError:  # a folder whose files can be opened, but not listed
        return []


def _read_whole(run, vftr):
    """The profile of all call paths: made of the node profiles beside this one."""
    changes = [c for c in (os.environ.get("VFTR_SET"), "profile.prune=false") if c]
    given = run.path
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([_find_vftr(vftr), "collate", "-o", folder, given],
                              env=dict(os.environ, VFTR_SET=";".join(changes)),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        if made.returncode:
            said = made.stderr.splitlines() or ["%s: `vftr collate' has failed" % given]
            raise Error(said[0].partition("vftr: ")[2] or said[0])
        whole = Run(os.path.join(folder, os.path.basename(given)), run.traces, vftr)
        _read_profile(whole)
    whole.path = given
    return whole


def open(path, vftr=None, whole=False):
    """Opens BASE_all.json, a sampling file BASE_HOST.vfd, or the folder of a run.

    vftr: the program that reads sampling files and node profiles, where it is neither $VFTR
    nor installed with this module nor in $PATH.
    whole: where call paths with little time are added up (`pruned' in the summary), all of
    them, from the node profiles beside it.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        profile, traces = _find_in(path)
    else:
        head = _head(path)
        if head == NODE_PROFILE:
            raise Error("%s: a node profile; `vftr collate' makes of all of a run one profile"
                        % path)
        profile, traces = (None, [path]) if head == SAMPLING else (path, _find_beside(path))
    run = Run(profile, traces, vftr)
    if profile is not None:
        _read_profile(run)
    if whole and "pruned" in run.summary:
        return _read_whole(run, vftr)
    return run


# ---- sampling files --------------------------------------------------------------------------


def _find_vftr(wanted):
    here = os.path.dirname(os.path.abspath(__file__))
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(here)))
    for program in (wanted, os.environ.get("VFTR"), os.path.join(prefix, "bin", "vftr"), "vftr"):
        if program and shutil.which(program):
            return program
    raise Error("%s: the program vftr, which reads the files of agents, is not found; name it in $VFTR"
                % (wanted or "vftr"))


class _Trace:
    """Of a sampling file, what its events refer to."""

    def __init__(self):
        self.host, self.processes, self.threads, self.counters = None, {}, {}, {}
        self.paths = {}

    def take(self, key, stream):
        """A member of the dump, other than its events."""
        if key == "host":
            self.host = stream.value()
        elif key == "processes":
            self.processes = {p["id"]: p for p in stream.elements()}
        elif key == "threads":
            self.threads = {t["lane"]: t for t in stream.elements()}
        elif key == "counters":
            self.counters = {str(c["id"]): c["name"] for c in stream.elements()}
        else:
            stream.value()

    def path(self, lane, stack):
        """(function, path) of a thread's call path."""
        if (lane, stack) not in self.paths:
            names, number = [], stack
            stacks = self.threads[lane]["stacks"]
            while number is not None and 0 <= number < len(stacks):
                names.append(stacks[number]["function"])
                number = stacks[number]["caller"]
            names = names or ["?"]
            self.paths[lane, stack] = names[0], "<".join(names)
        return self.paths[lane, stack]

    def row(self, event):
        lane = event.pop("lane")
        thread = self.threads.get(lane, {})
        process = self.processes.get(thread.get("process"), {})
        row = {"t_ns": event.pop("t_ns"), "event": event.pop("event"), "host": self.host,
               "rank": process.get("rank"), "pid": process.get("pid"),
               "thread": thread.get("number"), "stack": event.pop("stack", None),
               "function": None, "path": None}
        if row["stack"] is not None and thread:
            row["function"], row["path"] = self.path(lane, row["stack"])
        if "values" in event:
            event["values"] = {self.counters.get(k, k): v for k, v in event["values"].items()}
        if "function" in event:
            event["operation"] = event.pop("function")
        row.update(event)
        return row


def _events(vftr, options, path):
    """Rows of one file. It is read by `vftr dump': the one reader of the format there is."""
    with tempfile.TemporaryFile() as said:
        dump = subprocess.Popen([vftr, "dump", "--json"] + options + ["--", path],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said,
                                encoding="utf-8")
        try:
            yield from _rows(dump, path)
            status = dump.wait()
        finally:
            dump.stdout.close()
            if dump.poll() is None:
                dump.kill()
                dump.wait()
        said.seek(0)
        lines = said.read().decode("utf-8", "replace").splitlines()
    sentence = lines[0].partition("vftr: ")[2] or lines[0] if lines else ""
    if status not in (0, 1):
        raise Error(sentence or "%s: `vftr dump' has ended with %d" % (path, status))
    if status == 1:
        warnings.warn(sentence or "%s: it is damaged" % path, stacklevel=2)


def _rows(dump, path):
    stream, trace = _Stream(dump.stdout, path), _Trace()
    if not stream.peek():  # it has said why
        return
    for key in stream.members():
        if key != "events":
            trace.take(key, stream)
            continue
        for event in stream.elements():
            yield trace.row(event)


# ---- the command line --------------------------------------------------------------------------


def _print_top(run, n, file):
    """The functions with the greatest exclusive time."""
    top = heapq.nlargest(n, run.functions, key=lambda row: row["t_excl_s"])
    print("%12s  %12s  %12s  %s" % ("t_excl[s]", "t_incl[s]", "calls", "function"), file=file)
    for row in top:
        print("%12.6f  %12.6f  %12d  %s" % (row["t_excl_s"], row["t_incl_s"], row["calls"],
                                            row["function"]), file=file)


def _main(arguments):
    parser = argparse.ArgumentParser(prog="vftr.py", description="Prints the ten functions that "
                                     "take most time, or a table, of what vftr has written.")
    parser.add_argument("file", metavar="FILE", help="BASE_all.json, or the folder of a run")
    parser.add_argument("--csv", metavar="TABLE", help="print this table, comma-separated")
    parser.add_argument("--tables", action="store_true", help="print the names of the tables")
    options = parser.parse_args(arguments)
    try:
        run = open(options.file)
        if options.tables:
            for name in run.tables():
                print("%-24s %d" % (name, len(run.table(name))))
        elif options.csv:
            run.table(options.csv).write_csv(sys.stdout)
        else:
            _print_top(run, 10, sys.stdout)
        sys.stdout.flush()
    except Error as e:
        print("vftr.py: %s" % e, file=sys.stderr)
        return 2
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
