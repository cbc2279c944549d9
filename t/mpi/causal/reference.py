#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Waits, critical path and efficiencies by their definitions in vftr-analysis(7), slowly.

reference.py DUMP EXACT: reads what `vftr dump --json' says of a sampling file of one node, and
compares with `vftr critical-path --json' of the same. Prints what differs; status 1 if any does.
"""
import json
import sys
from bisect import bisect_left, bisect_right
from collections import defaultdict

# Where app-causal-random.c receives from MPI_ANY_SOURCE, always with a tag of its own.
ANY_SOURCE = ("MPI_Recv<", "MPI_Mprobe<", "MPI_Wait<find<")
INIT = ("MPI_Init", "MPI_Init_thread")
NXN = ("Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw",
       "Reduce_scatter", "Reduce_scatter_block")
FROM_ROOT = ("Bcast", "Scatter", "Scatterv")
TO_ROOT = ("Reduce", "Gather", "Gatherv")
SCAN = ("Scan", "Exscan")
# calls in which all ranks of a window meet; those of one rank that wait for another one
ON_WINDOW = {"MPI_Win_create": "nxn", "MPI_Win_fence": "rma_fence", "MPI_Win_free": "barrier"}
EPOCHS = {"MPI_Win_start": "start", "MPI_Win_complete": "complete", "MPI_Win_post": "post",
          "MPI_Win_wait": "wait"}
# (who waits, who is waited for, the kind)
MEETINGS = (("start", "post", "rma_post"), ("complete", "post", "rma_post"),
            ("wait", "complete", "rma_complete"))
# of locks: (it gives the lock back, it shows that the rank has it)
LOCKS = {"MPI_Win_lock": (False, False), "MPI_Win_lock_all": (False, False),
         "MPI_Win_flush_local": (False, False), "MPI_Win_flush_local_all": (False, False),
         "MPI_Win_flush": (False, True), "MPI_Win_flush_all": (False, True),
         "MPI_Win_unlock": (True, True), "MPI_Win_unlock_all": (True, True)}


# all members wait where a communicator is made, or a file opened
MAKERS = ("Comm_dup", "Comm_split", "Comm_create", "Cart_create", "File_open")


def kind_of(function):
    name = function[4:]
    if name in MAKERS:
        return "nxn"
    name = name[0].upper() + name[1:]
    if name.startswith("I") and name[1:].capitalize() in ("Barrier",) + NXN + FROM_ROOT + \
            TO_ROOT + SCAN:
        name = name[1:].capitalize()
    if name == "Barrier":
        return "barrier"
    for kind, names in (("nxn", NXN), ("late_root", FROM_ROOT), ("early_root", TO_ROOT),
                        ("scan", SCAN)):
        if name in names:
            return kind
    raise SystemExit(f"{function}: what kind of call is that?")


class Call:
    """A call of MPI in the window of a rank."""

    def __init__(self, rank, path, enter):
        self.rank, self.path, self.enter = rank, path, enter
        self.leave = None
        self.done = []  # ("receive", flow) ...; ("probe", flow): it has found the message
        self.until, self.late, self.kind = enter, None, None


class Rank:
    def __init__(self):
        self.begin = self.end = None
        self.pieces = []  # [start, end, path, call or None, in call], all of the window
        self.within = None  # the call that is open, which may have called functions
        self.calls = []


class Run:
    def __init__(self, dump):
        self.rank_of, paths = {}, {}
        ranks = {p["id"]: p["rank"] for p in dump["processes"]}
        for t in dump["threads"]:
            self.rank_of[t["lane"]] = ranks[t["process"]]
            paths[t["lane"]] = self.paths_of(t["stacks"])
        self.names = {c["number"]: c for c in dump["communicators"]}
        self.ranks = defaultdict(Rank)
        self.sends, self.receives, self.all = {}, {}, defaultdict(dict)
        self.init = {}
        self.probes, self.probed = defaultdict(list), set()
        self.looked, self.plain = defaultdict(list), defaultdict(list)
        self.groups, self.counts = {}, defaultdict(int)
        self.locks, self.given_back = {}, []
        open_calls = defaultdict(list)
        ends = defaultdict(list)
        for e in dump["events"]:
            rank = self.rank_of[e["lane"]]
            if e["event"] in ("call", "exit"):
                self.step(rank, e["t_ns"], e["event"] == "call", paths[e["lane"]][e["stack"]],
                          open_calls[rank])
            elif e["event"] == "message":
                self.message(rank, e, ends, paths[e["lane"]][e["stack"]])
        self.find_probed(ends)
        self.find_locks(ends)
        for rank, r in self.ranks.items():
            by_leave = {c.leave: c for c in r.calls}
            for end, what in ends[rank]:
                by_leave[end].done.append(what)

    def find_probed(self, ends):
        """MPI_Probe is taken to have found what is received next."""
        for rank, calls in self.looked.items():
            for enter, leave in calls:
                flow = min((r for r in self.plain[rank] if r[0] > enter), default=(0, None))[1]
                if flow is not None:
                    ends[rank].append((leave, ("probe", flow)))
                    self.probed.add(flow)

    @staticmethod
    def paths_of(stacks):
        paths = {}
        for s in stacks:
            paths[s["id"]] = s["function"] + "<" + paths[s["caller"]] if s["id"] else "init"
        return paths

    def step(self, rank, t, enters, path, stack):
        """One enter or exit; the pieces between are exclusive times."""
        r = self.ranks[rank]
        function = path.split("<")[0]
        if enters and function == "MPI_Finalize":
            self.close(r, t, stack)
            r.end = t
        if r.begin is not None and r.end is None:
            self.close(r, t, stack)
        if enters:
            stack.append(path)
            if function.startswith("MPI_") and r.begin is not None and r.end is None:
                r.within = Call(rank, path, t)
                r.calls.append(r.within)
        else:
            stack.pop()
            if function in INIT:
                r.begin = r.since = t
                self.init[rank] = path
            elif function.startswith("MPI_") and r.end is None:
                r.calls[-1].leave = t
                r.within = None
                if function == "MPI_Mprobe":
                    self.probes[rank].append(t)
                elif function == "MPI_Probe":
                    self.looked[rank].append((r.calls[-1].enter, t))

    @staticmethod
    def close(r, t, stack):
        if t > r.since:
            top = stack[-1] if stack else "init"
            r.pieces.append([r.since, t, top, r.calls[-1] if top.startswith("MPI_") else None,
                             r.within])
        r.since = t

    def message(self, rank, e, ends, path):
        if e["kind"] == "send":
            self.sends[e["flow"]] = dict(rank=rank, t=e["t_ns"], end=e["end_ns"], to=e["peer"],
                                         bytes=e["bytes"],
                                         sync=path.split("<")[0] in ("MPI_Ssend", "MPI_Issend"))
            ends[rank].append((e["end_ns"], ("send", e["flow"])))
        elif e["kind"] == "recv":
            if e["match"] != "exact":
                raise SystemExit("a match that is not exact")
            if path.split("<")[0] in ("MPI_Mrecv", "MPI_Imrecv"):  # one after the other
                ends[rank].append((self.probes[rank].pop(0), ("probe", e["flow"])))
                self.probed.add(e["flow"])
            else:
                self.plain[rank].append((e["end_ns"], e["flow"]))
            self.receives[e["flow"]] = dict(rank=rank, t=e["t_ns"], end=e["end_ns"],
                                            tag=e["tag"])
            ends[rank].append((e["end_ns"], ("receive", e["flow"])))
        elif e["kind"] == "collective":
            key = (self.names[e["communicator"]]["id"], e["ticket"])
            self.all[key][rank] = dict(t=e["t_ns"], end=e["end_ns"], root=e["root"],
                                       kind=kind_of(e["function"]), comm=e["communicator"])
            ends[rank].append((e["end_ns"], ("collective", key)))

        elif e["kind"] == "epoch":
            self.epoch(rank, e, ends)

    def add_all(self, rank, key, e, ends, kind, waits=True):
        self.all[key][rank] = dict(t=e["t_ns"], end=e["end_ns"], root=-1, kind=kind, waits=waits,
                                   comm=None)
        ends[rank].append((e["end_ns"], ("collective", key)))

    def epoch(self, rank, e, ends):
        """The kth start for a target belongs to the kth post there for this origin."""
        function, window = e["function"], e["window"]
        if function in ON_WINDOW:
            self.add_all(rank, (window, e["ticket"]), e, ends, ON_WINDOW[function])
            return
        if function in LOCKS:
            self.lock(rank, e)
            return
        what = EPOCHS[function]
        first = what in ("start", "post")
        role = "origin" if what in ("start", "complete") else "target"
        group = self.groups.setdefault((rank, window, role), [])
        if first and (not group or group[0][0] != e["ticket"]):
            group.clear()
        if first:
            self.counts[rank, window, role, e["peer"]] += 1
            group.append((e["ticket"], e["peer"], self.counts[rank, window, role, e["peer"]]))
        for _, other, k in group[-1:] if first else group:
            pair = (rank, other) if role == "origin" else (other, rank)
            for waits, awaited, kind in MEETINGS:
                if what in (waits, awaited):
                    self.add_all(rank, (window, pair, k, waits, awaited), e, ends, kind,
                                 what == waits)
        if not first:
            group.clear()

    def lock(self, rank, e):
        """A call of an epoch that is protected by a lock; which one, its ticket says."""
        gives_back, has = LOCKS[e["function"]]
        key = rank, e["window"], e["ticket"]
        if e["function"].startswith("MPI_Win_lock"):
            self.locks[key] = dict(rank=rank, window=e["window"], target=e["peer"], calls=[],
                                   exclusive=e["exclusive"], has=None)
        lock = self.locks[key]
        lock["calls"].append(e)
        if has and lock["has"] is None:
            lock["has"] = e["end_ns"]
        if gives_back:
            self.given_back.append(lock)

    def find_locks(self, ends):
        """Whoever has a lock later has waited until the other one gave it back."""
        for a in self.given_back:
            others = [b for b in self.given_back
                      if b["rank"] != a["rank"] and b["window"] == a["window"] and
                      (a["exclusive"] or b["exclusive"]) and
                      (a["target"] == b["target"] or -1 in (a["target"], b["target"])) and
                      a["calls"][0]["t_ns"] < b["calls"][-1]["end_ns"] and
                      b["calls"][0]["t_ns"] < a["calls"][-1]["end_ns"]]
            for e in a["calls"]:
                if e["end_ns"] > a["has"]:
                    break
                asks = e["function"].startswith("MPI_Win_lock")
                stood = [b for b in others if e["t_ns"] < b["calls"][-1]["t_ns"] < e["end_ns"] and
                         (asks or b["has"] < a["has"])]
                if stood:
                    last = max(stood, key=lambda b: b["calls"][-1]["t_ns"])
                    key = ("lock", a["rank"], e["t_ns"])
                    self.add_all(a["rank"], key, e, ends, "rma_lock")
                    self.add_all(last["rank"], key, last["calls"][-1], ends, "rma_lock", False)

    # ---- whom a call needed ----------------------------------------------------------

    def eager(self):
        return max((s["bytes"] for f, s in self.sends.items()
                    if not s["sync"] and f in self.receives and
                    s["end"] < self.receives[f]["t"]), default=-1)

    def members(self, comm):
        return [m["first"] + i * m["stride"] for m in self.names[comm]["members"]
                for i in range(m["count"])]

    def needed(self, call):
        """(time, rank, kind) of all that had to come before this call could end."""
        for what, key in call.done:
            if what in ("receive", "probe"):
                yield self.sends[key]["t"], self.sends[key]["rank"], "late_sender"
            elif what == "send":
                s, r = self.sends[key], self.receives.get(key)
                if r and (s["sync"] or s["bytes"] > self.most_eager):
                    yield r["t"], r["rank"], "late_receiver"
            else:
                yield from self.needed_of_all(call.rank, self.all[key])

    def needed_of_all(self, rank, there):
        own = there[rank]
        order = self.members(own["comm"]) if own["kind"] == "scan" else []
        if not own.get("waits", True):
            return
        for other, m in there.items():
            if own["kind"] == "late_root" and other != own["root"]:
                continue
            if own["kind"] == "early_root" and rank != own["root"]:
                continue
            if own["kind"] == "scan" and order.index(other) >= order.index(rank):
                continue
            yield m["t"], other, own["kind"]

    def find_waits(self):
        self.most_eager = self.eager()
        for r in self.ranks.values():
            for c in r.calls:
                causes = [n for n in self.needed(c) if n[0] <= c.leave]
                late = max(causes, key=lambda n: n[0], default=None)
                if late and late[0] > c.enter and late[1] != c.rank:
                    c.until, c.late, c.kind = late
            self.find_wrong_order(r)

    def find_wrong_order(self, r):
        """An earlier message lay there, which a later call received, and c could have chosen."""
        for c in r.calls:
            if c.kind != "late_sender" or c.path.startswith("MPI_Probe<"):
                continue
            got = [key for what, key in c.done
                   if what in ("receive", "probe") and self.sends[key]["t"] == c.until]
            if self.probed.intersection(got) and not c.path.startswith("MPI_Mprobe<"):
                continue  # by MPI_Probe, of which is not known what it looked for
            takes = {self.receives[key]["tag"] for key in got if c.path.startswith(ANY_SOURCE)}
            if any(self.sends[key]["t"] < c.until and self.receives[key]["tag"] not in takes
                   for later in r.calls if later.enter >= c.leave for what, key in later.done
                   if what == ("probe" if key in self.probed else "receive")):
                c.kind = "wrong_order"

    # ---- the longest chain of useful time --------------------------------------------

    def longest_chain(self):
        """k of a rank at a time is its k after the last call before, and its useful time since."""
        useful = {}
        for rank, r in self.ranks.items():
            starts, sums, total = [], [], 0
            for a, b, _, call, _ in r.pieces:
                starts.append(a)
                sums.append((total, call is None))
                total += b - a if call is None else 0
            useful[rank] = (starts, sums)
            r.useful = total

        def useful_until(rank, t):
            starts, sums = useful[rank]
            i = bisect_right(starts, t) - 1
            if i < 0:
                return 0
            return sums[i][0] + (t - starts[i] if sums[i][1] else 0)

        after = {rank: ([r.begin], [0]) for rank, r in self.ranks.items()}

        def k_at(rank, t):
            times, ks = after[rank]
            i = max(bisect_right(times, t) - 1, 0)
            return ks[i] + useful_until(rank, t) - useful_until(rank, times[i])

        calls = sorted((c for r in self.ranks.values() for c in r.calls), key=lambda c: c.leave)
        for c in calls:
            k = k_at(c.rank, c.leave)
            for t, other, _ in self.needed(c):
                if t <= c.leave and other != c.rank:
                    k = max(k, k_at(other, t))
            after[c.rank][0].append(c.leave)
            after[c.rank][1].append(k)
        return max(k_at(rank, r.end) for rank, r in self.ranks.items())

    # ---- the critical path ------------------------------------------------------------

    def critical_path(self):
        begin = min(r.begin for r in self.ranks.values())
        rank = max(self.ranks, key=lambda x: self.ranks[x].end)
        t = self.ranks[rank].end
        path = defaultdict(int)
        starts = {x: [p[0] for p in r.pieces] for x, r in self.ranks.items()}
        while t > begin:
            i = bisect_left(starts[rank], t) - 1
            if i < 0:
                path[rank, self.init[rank]] += t - begin
                break
            start, _, name, _, call = self.ranks[rank].pieces[i]
            if call and call.late is not None and start < call.until:
                if t > call.until:
                    path[rank, name] += t - call.until
                    t = call.until
                rank = call.late
                continue
            path[rank, name] += t - start
            t = start
        return path

    # ---- whom waits go back to ----------------------------------------------------------

    def last_in_common(self, call):
        """The last moment, before this wait, of one of both of which the other had heard."""
        a, b, best = call.rank, call.late, -10**18
        for s, r in self.between[frozenset((a, b))]:
            waits = s["sync"] or s["bytes"] > self.most_eager
            for x, y, limit in ((a, b, call.enter), (b, a, call.until)):
                if (s["rank"], r["rank"]) == (y, x) and r["end"] <= limit:
                    best = max(best, s["t"])
                if (s["rank"], r["rank"]) == (x, y) and waits and r["t"] <= s["end"] <= limit:
                    best = max(best, r["t"])
        for there in self.all.values():
            if a not in there or b not in there:
                continue
            own, other = there[a], there[b]
            if own["kind"] in ("barrier", "nxn", "rma_fence"):
                if own["end"] <= call.enter:
                    best = max(best, max(m["t"] for m in there.values()))
                continue
            for x, y, limit in ((a, b, call.enter), (b, a, call.until)):
                if there[x]["end"] <= limit and there[y]["t"] <= there[x]["end"] and \
                        y in (n[1] for n in self.needed_of_all(x, there)):
                    best = max(best, there[y]["t"])
        return best

    def activity(self, rank, begin, end):
        did, waits = defaultdict(int), defaultdict(int)
        r = self.ranks[rank]
        if begin < r.begin:
            did[self.init[rank]] += min(r.begin, end) - begin
        for a, b, name, _, call in r.pieces[max(bisect_right(self.starts[rank], begin) - 1, 0):]:
            if a >= end:
                break
            a, b = max(a, begin), min(b, end)
            if a >= b:
                continue
            waited = max(min(call.until, b) - a, 0) if call and call.late is not None and \
                a >= call.enter else 0
            if waited:
                waits[call] += waited
            did[name] += b - a - waited
        return did, waits

    def find_pairs(self):
        """What is looked at for each wait, so that the time does not grow with its square."""
        self.between = defaultdict(list)
        for flow, s in self.sends.items():
            r = self.receives.get(flow)
            if r:
                self.between[frozenset((s["rank"], r["rank"]))].append((s, r))
        self.starts = {rank: [p[0] for p in r.pieces] for rank, r in self.ranks.items()}

    def delays(self):
        self.find_pairs()
        begin = min(r.begin for r in self.ranks.values())
        calls = sorted((c for r in self.ranks.values() for c in r.calls if c.late is not None),
                       key=lambda c: -c.until)
        debt, cost = defaultdict(float), defaultdict(float)
        for c in calls:
            all_cost = c.until - c.enter + debt[c]
            since = min(max(self.last_in_common(c), begin), c.enter)
            own, own_waits = self.activity(c.rank, since, c.enter)
            did, waits = self.activity(c.late, since, c.until)
            excess = {x: did[x] - own.get(x, 0) for x in did if did[x] > own.get(x, 0)}
            waited = max(sum(waits.values()) - sum(own_waits.values()), 0)
            total = sum(excess.values()) + waited
            for x, ns in excess.items():
                cost[c.late, x] += all_cost * ns / total
            for w, ns in waits.items():
                if waited:
                    debt[w] += all_cost * waited / total * ns / sum(waits.values())
        return cost


class Comparison:
    def __init__(self):
        self.bad = 0

    def same(self, what, wanted, got, share=0.001, least=2e-9):
        if abs(wanted - got) > share * abs(wanted) + least:
            print(f"{what}: {wanted:.9f}, not {got:.9f}")
            self.bad += 1

    def same_rows(self, what, wanted, got, share=0.001, least=2e-9):
        for key in sorted(set(wanted) | set(got), key=str):
            self.same(f"{what} {key}", wanted.get(key, 0), got.get(key, 0), share, least)


def main():
    with open(sys.argv[1]) as f:
        run = Run(json.load(f))
    with open(sys.argv[2]) as f:
        exact = json.load(f)
    run.find_waits()
    ideal = run.longest_chain()
    n = len(run.ranks)
    window = max(r.end for r in run.ranks.values()) - min(r.begin for r in run.ranks.values())
    useful = [r.useful for r in run.ranks.values()]
    c = Comparison()
    e = exact["efficiency"]
    if [word for word in exact["estimated"] if word != "untold_calls"]:  # MPI_Comm_split
        print("estimated:", exact["estimated"])
        c.bad += 1
    c.same("window", window * 1e-9, e["window_s"])
    c.same("ideal", ideal * 1e-9, e["ideal_s"])
    c.same("parallel", sum(useful) / n / window, e["parallel"])
    c.same("load balance", sum(useful) / n / max(useful), e["load_balance"])
    c.same("serialisation", max(useful) / ideal, e["serialisation"])
    c.same("transfer", ideal / window, e["transfer"])
    c.same("product", e["parallel"], e["load_balance"] * e["serialisation"] * e["transfer"],
           1e-9, 0)
    path = run.critical_path()
    c.same("length of the critical path", window * 1e-9, sum(path.values()) * 1e-9, 0)
    c.same_rows("critical path", {k: v * 1e-9 for k, v in path.items()},
                {(x["rank"], x["path"]): x["t_s"] for x in exact["critical_path"]})
    waits = defaultdict(float)
    late = defaultdict(float)
    for r in run.ranks.values():
        for call in r.calls:
            if call.late is not None:
                waits[call.kind, call.path] += (call.until - call.enter) * 1e-9
                late[call.kind, call.path, call.late] += (call.until - call.enter) * 1e-9
    c.same_rows("waits", waits, {(w["kind"], w["path"]): w["t_s"] for w in exact["waits"]})
    c.same_rows("late", late, {(w["kind"], w["path"], x["rank"]): w["t_s"] * x["share"]
                               for w in exact["waits"] for x in w["for"]}, least=1e-8)
    cost = run.delays()
    total = sum(waits.values())
    c.same("sum of costs", total, sum(x["cost_s"] for x in exact["delays"]), 1e-6, 1e-7)
    c.same_rows("cost", {k: v * 1e-9 for k, v in cost.items()},
                {(x["rank"], x["path"]): x["cost_s"] for x in exact["delays"]},
                0.001, 0.001 * total)
    calls = sum(len(r.calls) for r in run.ranks.values())
    print(f"{n} ranks, {calls} calls, {total:.6f} s of waits in {len(waits)} paths")
    return 1 if c.bad or not total else 0


if __name__ == "__main__":
    sys.exit(main())
