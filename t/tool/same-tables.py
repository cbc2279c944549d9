# SPDX-License-Identifier: BSD-3-Clause
"""Holds vftr.py and `vftr export -f sqlite' to the JSON of a profile, value by value.

    same-tables.py python JSON          each member is the same table, row and tree
    same-tables.py sql JSON DATABASE    each member is in the database, and nothing else
    same-tables.py timeline VFTR FILE   the events are those of `vftr dump --json'

Several of these in one run, each behind a --, are said by a line each: python takes long to start.
"""
import csv
import io
import json
import math
import sqlite3
import subprocess
import sys
import types

import vftr

looked = 0


def same(got, wanted, where):
    global looked
    looked += 1
    if type(got) is not type(wanted) or got != wanted:
        sys.exit("%s: %r, but the JSON has %r" % (where, got, wanted))


def near(got, wanted, where):
    """Sums of reals depend on their order."""
    global looked
    looked += 1
    if got != wanted and not (float in (type(got), type(wanted)) and
                              math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-12)):
        sys.exit("%s: %r, wanted %r" % (where, got, wanted))


def rows_of(member):
    """The elements of an array as rows with all columns."""
    rows = [e if isinstance(e, dict) else {"value": e} for e in member]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return columns, [{c: row.get(c) for c in columns} for row in rows]


# ---- vftr.py ---------------------------------------------------------------------------------


def check_table(table, member, name):
    columns, rows = rows_of(member)
    if rows:
        same(sorted(table.columns), sorted(columns), name + " columns")
    same(len(table), len(rows), name + " rows")
    for i, (got, row) in enumerate(zip(table, rows)):
        same(set(got), set(table.columns), name)
        for column, value in row.items():
            same(got[column], value, "%s[%d].%s" % (name, i, column))
            same(table.column(column)[i], value, "%s.column(%s)[%d]" % (name, column, i))
        same(table[i], got, name + " by number")
    if rows:
        same(table[-1], table[len(rows) - 1], name)
        same(table[:2], [table[i] for i in range(min(2, len(rows)))], name)


def check_csv(table, name):
    text = io.StringIO()
    table.write_csv(text)
    lines = list(csv.reader(io.StringIO(text.getvalue())))
    same(len(lines), len(table) + 1, name + " lines of CSV")
    same(tuple(lines[0]), table.columns, name)
    for line, row in zip(lines[1:], table):
        for cell, value in zip(line, row.values()):
            if isinstance(value, (list, dict, bool)):
                same(json.loads(cell), value, name)
            elif isinstance(value, (int, float)):
                same(type(value)(cell), value, name)
            else:
                same(cell, value or "", name)


def check_dataframe(table):
    """What is handed to pandas, by a stand-in that keeps it."""
    pandas = types.ModuleType("pandas")
    pandas.DataFrame = lambda data, columns: (data, columns)
    sys.modules["pandas"] = pandas
    data, columns = table.dataframe()
    del sys.modules["pandas"]
    same(columns, list(table.columns), "columns of the DataFrame")
    for column in columns:
        same(data[column], list(table.column(column)), column)


def check_tree(run, stacks):
    seen = []
    for node in run.walk():
        row = stacks[node.id]
        for got, column in ((node.calls, "calls"), (node.function, "function"),
                            (node.path, "path"), (node.inclusive, "t_incl_s"),
                            (node.exclusive, "t_excl_s")):
            same(got, row[column], "node %d %s" % (node.id, column))
        same(node.row["hash"], row["hash"], "hash of a node")
        same(node.parent.id if node.parent else -1, row["parent"], "parent")
        same([c.id for c in node.children],
             [r["id"] for r in stacks if r["parent"] == node.id], "children")
        same(node.parent is None or node.parent.id in seen, True, "parents before children")
        seen.append(node.id)
    same(sorted(seen), list(range(len(stacks))), "nodes")
    same(run.node(seen[0]), run.roots[0], "a node by its id")


def check_hatchet(run, stacks):
    """As hatchet's reader of literals wants it."""
    literal = run.hatchet_literal()
    same(type(literal), list, "literal")
    found, open_ones = [], list(literal)
    while open_ones:
        node = open_ones.pop()
        same(set(node), {"frame", "metrics", "children"}, "a node of Hatchet")
        same(set(node["frame"]), {"name", "type"}, "frame")
        same(node["frame"]["type"], "function", "type")
        same(type(node["frame"]["name"]), str, "name")
        same(set(node["metrics"]), {"time", "time (inc)", "calls"}, "metrics")
        found.append((node["frame"]["name"], node["metrics"]["time"],
                      node["metrics"]["time (inc)"], node["metrics"]["calls"],
                      sorted(c["frame"]["name"] for c in node["children"])))
        open_ones += node["children"]
    same(sorted(found), sorted(
        (s["function"], s["t_excl_s"], s["t_incl_s"], s["calls"],
         sorted(c["function"] for c in stacks if c["parent"] == s["id"])) for s in stacks),
        "Hatchet's nodes")


def ranks_of(raw):
    n = max([raw["ranks"]] + [p["last"] + 1 for p in raw["places"]])
    if "other_ranks" in raw:
        n = max(n, raw["ranks"] + raw["unranked"])
    rows = []
    for rank in range(n):
        hosts = [p["host"] for p in raw["places"] if rank in range(p["first"], p["last"] + 1, p.get("step", 1))]
        if not hosts and len(raw["agents"]) == 1:
            hosts = [raw["agents"][0]["host"]]
        lives = [p for p in raw.get("each_process", []) if p["rank"] == rank]
        row = {"rank": rank, "host": hosts[0] if hosts else None}
        for column in ("runtime_s", "calls", "events", "lost", "blocked_s"):
            row[column] = sum(p[column] for p in lives) if lives else None
        for end, columns in (("from", ("sends", "bytes_sent")),
                             ("to", ("recvs", "bytes_received"))):
            for column in columns:
                row[column] = None
                if raw["communication_matrix_ranks"] == 1:
                    row[column] = sum(p[column] for p in raw["communication_matrix"]
                                      if p[end] == rank)
        rows.append(row)
    return rows


def check_ranks(got, raw):
    wanted = ranks_of(raw)
    same(len(got), len(wanted), "ranks")
    for row, want in zip(got, wanted):
        same(list(row), list(want), "columns of ranks")
        for column in want:
            near(row[column], want[column], "rank %d %s" % (want["rank"], column))


def check_python(path):
    with open(path, encoding="utf-8") as f:
        raw = json.load(f)
    run = vftr.open(path)
    arrays = {name: member for name, member in raw.items() if isinstance(member, list)}
    same(run.summary, {k: v for k, v in raw.items() if k not in arrays}, "summary")
    same(set(run.tables()), set(arrays) | {"messages", "pairs", "ranks"}, "tables")
    for name, member in arrays.items():
        check_table(run.table(name), member, name)
        check_csv(run.table(name), name)
    check_table(run.stacks, raw["stacks"], "stacks")
    check_table(run.functions, raw["functions"], "functions")
    check_table(run.pairs, raw["communication_matrix"], "pairs")
    check_table(run.messages, [dict(row, path=raw["stacks"][row["id"]]["path"])
                               for row in raw["mpi"]], "messages")
    check_ranks(list(run.ranks), raw)
    check_tree(run, raw["stacks"])
    check_hatchet(run, raw["stacks"])
    check_dataframe(run.stacks)


# ---- SQL -------------------------------------------------------------------------------------


def sql_value(value):
    if isinstance(value, bool):
        return int(value)
    # SQLite's integers have 64 bits with a sign
    return float(value) if isinstance(value, int) and value >= 1 << 63 else value


class Database:
    """What is found in it is crossed out; what is left in the end was too much."""

    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.row_factory = sqlite3.Row
        self.left = {name: {row["row"]: dict(row) for row in
                            self.db.execute('SELECT * FROM "%s" ORDER BY row' % name)}
                     for (name,) in
                     self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.next = dict.fromkeys(self.left, 0)

    def row(self, table, outer, scalars):
        """Takes the next row of a table, which must be this one."""
        number = self.next[table]
        self.next[table] += 1
        got = self.left[table].pop(number)
        wanted = dict.fromkeys(got)
        wanted.update({k: sql_value(v) for k, v in scalars.items()}, row=number)
        if outer is not None:
            wanted["in_row"] = outer
        for column in wanted:
            same(got[column], wanted[column], "%s[%d].%s" % (table, number, column))
        return number

    def nested(self, table, outer, value):
        """An array or a lone object."""
        for key, v in value.items() if isinstance(value, dict) else ((None, v) for v in value):
            inner = isinstance(v, (dict, list))
            if key is not None:
                number = self.row(table, outer, {"key": key, "value": None if inner else v})
                if inner:
                    self.nested(table + "_" + key, number, v)
                continue
            element = v if isinstance(v, dict) else {"value": v}
            number = self.row(table, outer, {k: x for k, x in element.items()
                                             if not isinstance(x, (dict, list))})
            for k, x in element.items():
                if isinstance(x, (dict, list)):
                    self.nested(table + "_" + k, number, x)


def check_sql(path, database):
    with open(path, encoding="utf-8") as f:
        raw = json.load(f)
    d = Database(database)
    for name, member in raw.items():
        if isinstance(member, (dict, list)):
            d.nested(name, None, member)
        else:
            d.row("run", None, {"key": name, "value": member})
    same({k: v for k, v in d.left.items() if v}, {}, "rows that the JSON does not have")
    run = vftr.open(path)
    for name in ("messages", "pairs", "ranks"):
        rows = [dict(row) for row in d.db.execute("SELECT * FROM %s" % name)]
        same(len(rows), len(run.table(name)), name)
        for row, wanted in zip(rows, run.table(name)):
            for column in wanted:
                near(row[column], wanted[column], name + "." + column)
    for table, column in (("stacks", "calls"), ("stacks", "t_excl_s"), ("mpi", "bytes_sent"),
                          ("communication_matrix", "recvs"), ("functions", "t_incl_s")):
        (total,), = d.db.execute("SELECT coalesce(sum(%s), 0) FROM %s" % (column, table))
        near(total, sum(row[column] for row in raw[table]), "sum of %s.%s" % (table, column))


# ---- the time line ---------------------------------------------------------------------------


def path_of(thread, stack):
    names = []
    while stack >= 0:
        names.append(thread["stacks"][stack]["function"])
        stack = thread["stacks"][stack]["caller"]
    return "<".join(names)


def check_timeline(program, path):
    raw = json.loads(subprocess.run([program, "dump", "--json", path], check=True,
                                    stdout=subprocess.PIPE).stdout)
    threads = {t["lane"]: t for t in raw["threads"]}
    processes = {p["id"]: p for p in raw["processes"]}
    counters = {str(c["id"]): c["name"] for c in raw["counters"]}
    rows = list(vftr.open(path).timeline())
    same(len(rows), len(raw["events"]), "events")
    for row, event in zip(rows, raw["events"]):
        thread = threads[event.pop("lane")]
        process = processes[thread["process"]]
        event.update(host=raw["host"], rank=process["rank"], pid=process["pid"],
                     thread=thread["number"])
        if "function" in event:
            event["operation"] = event.pop("function")
        if "values" in event:
            event["values"] = {counters[k]: v for k, v in event["values"].items()}
        stack = event.setdefault("stack", None)
        event["path"] = None if stack is None else path_of(thread, stack)
        event["function"] = None if stack is None else event["path"].split("<")[0] \
            if "<" not in thread["stacks"][stack]["function"] \
            else thread["stacks"][stack]["function"]
        same(row, event, "an event")


CHECKS = {"python": check_python, "sql": check_sql, "timeline": check_timeline}
groups = [[]]
for word in sys.argv[1:]:
    if word == "--":
        groups.append([])
    else:
        groups[-1].append(word)
for check, *arguments in filter(None, groups):
    looked = 0
    print(*arguments, file=sys.stderr)
    CHECKS[check](*arguments)
    print(looked, "values:", check)
