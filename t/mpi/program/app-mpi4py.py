# SPDX-License-Identifier: BSD-3-Clause
"""Uses most of mpi4py's calls, and prints what came out of them.

	mpirun -np N python3 app-mpi4py.py FOLDER [pickled] [spawn]

Rank 0 prints the lines of all ranks in order, so that two runs on as many ranks (an
even number) can be compared byte by byte. Each rank leaves FOLDER/counts.RANK, a line
"CALLS MPI_NAME" for each function of which it knows how often it was called: those
made through Counted or counted(). A function that mpi4py calls by itself, or of which
the number depends on time (Test), must not go through these. With "pickled", objects
are sent as well, by calls of which the numbers are mpi4py's affair. With "spawn",
processes that run this file, too, and leave counts.spawned.RANK.
"""
import array
import os
import sys
from collections import Counter

import mpi4py
mpi4py.rc.thread_level = "serialized"  # with more, Open MPI 4.1 has no windows
from mpi4py import MPI  # noqa: E402

CALLS = Counter()
LINES = []
OTHER_NAMES = {"Create_group": "Comm_create_group", "Create_cart": "Cart_create"}


class Counted:
	"""An mpi4py object whose methods are counted as PREFIX + their names."""

	def __init__(self, inner, prefix="MPI_"):
		self.inner, self.prefix = inner, prefix

	def __getattr__(self, name):
		method = getattr(self.inner, name)
		if self.prefix != "MPI_":
			name = name.lower()

		def call(*args, **kw):
			CALLS[self.prefix + OTHER_NAMES.get(name, name)] += 1
			return method(*(a.inner if isinstance(a, Counted) else a for a in args), **kw)
		return call


def counted(name, function, *args, **kw):
	"""function(...), which calls MPI_name exactly once."""
	CALLS["MPI_" + name] += 1
	return function(*args, **kw)


def of_all(communicator, value):
	"""What each rank of it gives (of the other group, between groups)."""
	inter = communicator.Is_inter()
	got = ints(*[-1] * (communicator.Get_remote_size() if inter else communicator.Get_size()))
	Counted(communicator).Allgather(ints(value), got)
	return got.tolist()


def say(*what):
	LINES.append(" ".join(str(w) for w in what))


def ints(*values):
	return array.array("i", values)


def doubles(*values):
	return array.array("d", values)


def text_of(status):
	return (f"source {status.Get_source()} tag {status.Get_tag()} count {status.Get_count(MPI.BYTE)} "
		f"elements {status.Get_elements(MPI.BYTE)} cancelled {status.Is_cancelled()}")


world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
right, left = (rank + 1) % size, (rank - 1) % size
first = rank % 2 == 0
comm = Counted(world)
pair = counted("Comm_split", world.Split, rank // 2, rank)  # where any source is one source
of_two = Counted(pair)


def environment():
	say("version", MPI.Get_version(), MPI.Query_thread(), MPI.Is_thread_main())
	say("initialized", MPI.Is_initialized(), MPI.Is_finalized(), world.Get_name())
	say("attributes", world.Get_attr(MPI.TAG_UB) >= 32767, world.Get_attr(MPI.WTIME_IS_GLOBAL))
	say("wtime", MPI.Wtime() >= 0, MPI.Wtick() > 0, len(MPI.Get_processor_name()) > 0)
	say("errors", MPI.Get_error_class(MPI.ERR_TAG) == MPI.ERR_TAG, MPI.Get_error_string(MPI.ERR_TAG))
	MPI.Pcontrol(1)


def pickled():
	objects = [{"rank": rank, "list": list(range(50)), "text": "a" * 300}, None, (1, 2.5, "x")]
	for tag, thing in enumerate(objects):
		if first:
			counted("Send", pair.send, thing, dest=1, tag=tag)
			say("pickled", pair.recv(source=1, tag=tag))
		else:
			say("pickled", pair.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG))
			counted("Ssend", pair.ssend, thing, dest=0, tag=tag)
	say("sendrecv", world.sendrecv(f"from {rank}", dest=right, source=left))
	requests = [counted("Isend", world.isend, [rank] * n, dest=right, tag=n) for n in (1, 100)]
	say("irecv", [counted("Irecv", world.irecv, 4096, source=left, tag=n).wait() for n in (1, 100)])
	MPI.Request.waitall(requests)
	request = counted("Isend", world.isend, "probed", dest=right, tag=9)
	message = counted("Mprobe", world.mprobe, source=left, tag=9)
	say("mprobe", message.recv())
	request.wait()
	say("bcast", world.bcast({"of": rank} if rank == 1 else None, root=1))
	say("gather", world.gather(rank * rank, root=0))
	say("scatter", world.scatter([f"for {n}" for n in range(size)] if first and not rank else None))
	say("allgather", world.allgather(chr(65 + rank)), world.alltoall([rank * 10 + n for n in range(size)]))
	say("reduce", world.reduce(rank, op=MPI.SUM), world.allreduce([rank]), world.scan(1), world.exscan(1))


def blocking():
	for n, name in enumerate(("Send", "Ssend", "Bsend", "Rsend")):
		out, got, status = doubles(*([rank + 0.5] * (n + 1))), doubles(*([0] * 8)), MPI.Status()
		if name == "Bsend":
			MPI.Attach_buffer(bytearray(4096))
		request = comm.Irecv([got, MPI.DOUBLE], source=left, tag=n)
		comm.Barrier()
		getattr(comm, name)([out, n + 1, MPI.DOUBLE], dest=right, tag=n)
		counted("Wait", request.Wait, status)
		if name == "Bsend":
			MPI.Detach_buffer()
		say(name, got.tolist(), text_of(status), status.Get_count(MPI.DOUBLE))
	status = MPI.Status()
	got = ints(0, 0, 0)
	if first:
		of_two.Send(ints(rank, 7), dest=1, tag=3)
		of_two.Recv(got, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
	else:
		of_two.Recv([got, 2, MPI.INT], source=0, tag=3, status=status)
		of_two.Send(got, dest=0, tag=4)
	say("Recv", got.tolist(), text_of(status))
	got = ints(-1)
	comm.Sendrecv(ints(rank), dest=right, recvbuf=got, source=left, status=status)
	say("Sendrecv", got[0], text_of(status))
	comm.Sendrecv_replace(got, dest=left, source=right, status=status)
	say("Sendrecv_replace", got[0], text_of(status))
	comm.Send(ints(1), dest=MPI.PROC_NULL)
	comm.Recv(got, source=MPI.PROC_NULL, status=status)
	say("PROC_NULL", got[0], status.Get_source() == MPI.PROC_NULL, status.Get_count(MPI.INT))
	request = comm.Isend(ints(5, 6), dest=right, tag=77)
	comm.Probe(source=left, tag=77, status=status)
	say("Probe", text_of(status))
	message = comm.Mprobe(source=left, tag=77, status=status)
	got = ints(0, 0)
	counted("Mrecv", message.Recv, got)
	counted("Wait", request.Wait)
	say("Mrecv", got.tolist())
	request = comm.Isend(ints(8, 9), dest=right, tag=78)
	while not world.Iprobe(source=left, tag=78):
		pass
	message = None
	while message is None:
		message = world.Improbe(source=left, tag=78)
	counted("Wait", counted("Imrecv", message.Irecv, got).Wait)
	counted("Wait", request.Wait)
	say("Imrecv", got.tolist())


def nonblocking():
	n = 6
	got = [ints(0, 0) for _ in range(n)]
	kinds = ("Isend", "Issend", "Irsend", "Isend", "Ibsend", "Isend")
	MPI.Attach_buffer(bytearray(4096))
	requests = [comm.Irecv(g, source=left, tag=t) for t, g in enumerate(got)]
	comm.Barrier()
	out = [ints(rank, t) for t in range(n)]
	requests += [getattr(comm, k)(out[t], dest=right, tag=t) for t, k in enumerate(kinds)]
	statuses = [MPI.Status() for _ in requests]
	counted("Waitall", MPI.Request.Waitall, requests, statuses)
	say("Waitall", [g.tolist() for g in got], [text_of(s) for s in statuses[:n]])
	MPI.Detach_buffer()
	for name in ("Waitany", "Waitsome", "Testall", "Testany", "Testsome", "Test"):
		got = [ints(0) for _ in range(n)]
		out = [ints(rank * 100 + t) for t in range(n)]
		requests = [comm.Irecv(g, source=left, tag=t) for t, g in enumerate(got)]
		sends = [comm.Isend(o, dest=right, tag=t) for t, o in enumerate(out)]
		done = []
		if name == "Waitany":
			done = [counted(name, MPI.Request.Waitany, requests) for _ in range(n)]
			say(name, counted(name, MPI.Request.Waitany, requests) == MPI.UNDEFINED)
		while len(done) < n:
			if name == "Testall":
				done = list(range(n)) if MPI.Request.Testall(requests) else []
			elif name == "Testany":
				index, flag = MPI.Request.Testany(requests)
				done += [index] if flag else []
			elif name == "Test":
				done += [i for i, r in enumerate(requests) if i not in done and r.Test()]
			else:
				done += getattr(MPI.Request, name)(requests) or []
		say(name, sorted(done), [g[0] for g in got], [r == MPI.REQUEST_NULL for r in requests])
		counted("Waitall", MPI.Request.Waitall, sends)
	never, status = comm.Irecv(ints(0), source=left, tag=999), MPI.Status()
	counted("Request_get_status", never.Get_status)
	counted("Cancel", never.Cancel)
	counted("Wait", never.Wait, status)
	say("Cancel", status.Is_cancelled())
	request = comm.Isend(ints(1), dest=right, tag=55)
	counted("Request_free", request.Free)
	comm.Recv(ints(0), source=left, tag=55)


def persistent():
	got, out = ints(0), ints(0)
	pair = [comm.Recv_init(got, source=left, tag=1), comm.Send_init(out, dest=right, tag=1)]
	for turn in range(3):
		out[0] = rank * 10 + turn
		counted("Startall", MPI.Prequest.Startall, pair)
		counted("Waitall", MPI.Request.Waitall, pair)
		say("persistent", got[0])
	counted("Start", pair[0].Start)
	counted("Start", pair[1].Start)
	for request in pair:
		counted("Wait", request.Wait)
		counted("Request_free", request.Free)
	unused = [comm.Ssend_init(out, dest=right), comm.Rsend_init(out, dest=right),
		comm.Bsend_init(out, dest=right)]
	for request in unused:
		counted("Request_free", request.Free)


def collectives():
	n = size
	each, one = ints(*range(n)), ints(rank)
	got = ints(*([-1] * n))

	def nothing():
		return None if rank else got
	data = ints(*([42] * 4)) if rank == size - 1 else ints(0, 0, 0, 0)
	comm.Bcast(data, root=size - 1)
	say("Bcast", data.tolist())
	comm.Gather(one, nothing(), root=0)
	say("Gather", got.tolist())
	mine = ints(-1)
	comm.Scatter(each if rank == 0 else None, mine, root=0)
	say("Scatter", mine[0])
	comm.Allgather(one, got)
	say("Allgather", got.tolist())
	comm.Alltoall(ints(*[rank * 100 + i for i in range(n)]), got)
	say("Alltoall", got.tolist())
	for op in (MPI.SUM, MPI.MAX, MPI.MIN, MPI.PROD, MPI.BXOR):
		comm.Allreduce(ints(rank + 1), mine, op=op)
		say("Allreduce", mine[0])
	comm.Allreduce(MPI.IN_PLACE, mine, op=MPI.SUM)
	comm.Reduce(one, mine if rank == 0 else None, op=MPI.MAX, root=0)
	comm.Scan(one, mine)
	say("Scan", mine[0])
	comm.Exscan(one, mine)
	say("Exscan", mine[0] if rank else "-")
	comm.Reduce_scatter_block(each, mine)
	comm.Reduce_scatter(each, mine, [1] * n)
	say("Reduce_scatter", mine[0])
	say("Reduce_local", reduce_local())
	counts = [i + 1 for i in range(n)]
	starts = [sum(counts[:i]) for i in range(n)]
	total = sum(counts)
	many, all_of = ints(*([rank] * counts[rank])), ints(*([-1] * total))
	comm.Gatherv(many, [all_of, (counts, starts), MPI.INT] if rank == 0 else None, root=0)
	comm.Allgatherv(many, [all_of, (counts, starts), MPI.INT])
	say("Allgatherv", all_of.tolist())
	comm.Scatterv([all_of, (counts, starts), MPI.INT] if rank == 0 else None, many, root=0)
	say("Scatterv", many.tolist())
	comm.Alltoallv([each, ([1] * n, list(range(n))), MPI.INT], [got, ([1] * n, list(range(n))[::-1]), MPI.INT])
	say("Alltoallv", got.tolist())
	types = [MPI.INT] * n
	comm.Alltoallw([each, ([1] * n, [4 * i for i in range(n)]), types],
		[got, ([1] * n, [4 * i for i in range(n)]), types])
	say("Alltoallw", got.tolist())
	mine = ints(-1)
	for name, args in {"Ibarrier": (), "Ibcast": (data,), "Iallreduce": (one, mine), "Iallgather": (one, got),
			"Ialltoall": (each, got), "Iscan": (one, mine), "Ireduce_scatter_block": (each, mine),
			"Igather": (one, nothing()), "Ireduce": (one, mine),
			"Iallgatherv": (ints(*([rank] * counts[rank])), [all_of, (counts, starts), MPI.INT])}.items():
		counted("Wait", getattr(comm, name)(*args).Wait)
		say(name, mine[0] if rank == 0 or name != "Ireduce" else "-", got.tolist(), all_of.tolist())


def reduce_local():
	a, b = doubles(1, 2), doubles(10, 20)
	twice = counted("Op_create", MPI.Op.Create,
		lambda x, y, t: memoryview(y).cast("d").__setitem__(0, 2 * memoryview(x).cast("d")[0]), commute=True)
	MPI.SUM.Reduce_local(a, b)
	result = b.tolist(), twice.Is_commutative()
	mine = doubles(0)
	comm.Allreduce(doubles(1.5), mine, op=twice)
	counted("Op_free", twice.Free)
	return result + (mine[0] > 1,)


def topologies():
	dims = MPI.Compute_dims(size, 2)
	grid = comm.Create_cart([size], periods=[True], reorder=False)
	cart = Counted(grid)
	say("cart", dims, grid.Get_topo(), grid.Get_coords(rank), grid.Get_cart_rank([rank + size]), grid.Shift(0, 1))
	for name in ("Neighbor_allgather", "Neighbor_alltoall"):
		got = ints(-1, -1)
		getattr(cart, name)(ints(rank) if name == "Neighbor_allgather" else ints(rank, rank + 100), got)
		say(name, got.tolist())
	got = ints(*([-1] * 4))
	cart.Neighbor_allgatherv(ints(rank, rank), [got, ([2, 2], [0, 2]), MPI.INT])
	say("Neighbor_allgatherv", got.tolist())
	cart.Neighbor_alltoallv([ints(rank, rank), ([1, 1], [0, 1]), MPI.INT], [got, ([1, 1], [0, 3]), MPI.INT])
	say("Neighbor_alltoallv", got.tolist())
	got = ints(-1, -1)
	counted("Wait", cart.Ineighbor_allgather(ints(rank), got).Wait)
	say("Ineighbor_allgather", got.tolist())
	line = counted("Cart_sub", grid.Sub, [True])
	graph = counted("Dist_graph_create_adjacent", world.Create_dist_graph_adjacent, [left], [right])
	say("graph", graph.Get_dist_neighbors(), graph.Get_dist_neighbors_count())
	got = ints(-1)
	Counted(graph).Neighbor_alltoall(ints(rank), got)
	say("graph", got[0])
	for c in (line, grid, graph):
		counted("Comm_free", c.Free)


def communicators():
	half = counted("Comm_split", world.Split, rank % 2, -rank)
	say("split", half.Get_rank(), half.Get_size(), of_all(half, rank))
	say("none", counted("Comm_split", world.Split, MPI.UNDEFINED, 0) == MPI.COMM_NULL)
	node = counted("Comm_split_type", world.Split_type, MPI.COMM_TYPE_SHARED)
	again = counted("Comm_dup", world.Dup)
	later, request = counted("Comm_idup", world.Idup)
	counted("Wait", request.Wait)
	group = counted("Comm_group", world.Get_group)
	evens = counted("Group_incl", group.Incl, list(range(0, size, 2)))
	odds = counted("Group_excl", group.Excl, list(range(0, size, 2)))
	both = counted("Group_union", MPI.Group.Union, evens, odds)
	say("groups", evens.Get_size(), odds.Get_rank() == MPI.UNDEFINED, both.Get_size(),
		counted("Group_translate_ranks", MPI.Group.Translate_ranks, odds, [0], group),
		counted("Group_compare", MPI.Group.Compare, group, both) == MPI.SIMILAR,
		counted("Group_intersection", MPI.Group.Intersection, evens, odds) == MPI.GROUP_EMPTY)
	some = counted("Comm_create", world.Create, evens)
	if first:
		few = comm.Create_group(evens, 5)
		say("create", of_all(some, rank), few.Get_size(), MPI.Comm.Compare(some, few) == MPI.CONGRUENT)
		counted("Comm_free", few.Free)
		counted("Comm_free", some.Free)
	say("compare", MPI.Comm.Compare(world, again) == MPI.CONGRUENT, MPI.Comm.Compare(world, world) == MPI.IDENT)
	counted("Comm_set_name", again.Set_name, "again")
	say("name", again.Get_name())
	between(half)
	for g in (evens, odds, both, group):
		counted("Group_free", g.Free)
	for c in (half, node, again, later):
		counted("Comm_free", c.Free)


def between(half):
	"""An intercommunicator of the even and the odd ranks."""
	inter = counted("Intercomm_create", half.Create_intercomm, size // 2 - 1, world, 1 if first else 0, 11)
	peer = Counted(inter)
	say("inter", inter.Is_inter(), inter.Get_remote_size(), inter.Get_rank())
	got = ints(-1)
	peer.Sendrecv(ints(rank), dest=inter.Get_rank(), recvbuf=got, source=inter.Get_rank())
	say("inter sendrecv", got[0])
	peer.Allreduce(ints(rank), got)
	say("inter allreduce", got[0], of_all(inter, rank))
	root = MPI.ROOT if rank == 0 else MPI.PROC_NULL if first else size // 2 - 1
	got = ints(17) if rank == 0 else ints(0)
	peer.Bcast(got, root=root)
	say("inter bcast", got[0])
	flat = counted("Intercomm_merge", inter.Merge, not first)
	say("merged", of_all(flat, rank))
	counted("Comm_free", flat.Free)
	counted("Comm_free", inter.Free)


def attributes():
	copies = []
	key = MPI.Comm.Create_keyval(
		copy_fn=lambda c, k, v: copies.append(v) or v + 1, delete_fn=lambda c, k, v: copies.append(-v))
	one = counted("Comm_dup", world.Dup)
	one.Set_attr(key, 5)
	two = counted("Comm_dup", one.Dup)
	say("attributes", one.Get_attr(key), two.Get_attr(key), one.Get_attr(MPI.TAG_UB) > 0)
	one.Delete_attr(key)
	counted("Comm_free", two.Free)
	counted("Comm_free", one.Free)
	MPI.Comm.Free_keyval(key)
	say("attributes", copies)
	info = counted("Info_create", MPI.Info.Create)
	info["key"] = "value"
	info.Set("other", "x y")
	again = counted("Info_dup", info.Dup)
	say("info", again.Get("key"), sorted(info.items()), again.Get("none"), info.Get_nkeys())
	counted("Info_free", info.Free)
	counted("Info_free", again.Free)


def datatypes():
	column = counted("Type_vector", MPI.INT.Create_vector, 3, 1, 4)
	counted("Type_commit", column.Commit)
	matrix, got = ints(*range(12)), ints(*([0] * 3))
	comm.Sendrecv([matrix, 1, column], dest=right, recvbuf=got, source=left)
	say("vector", got.tolist(), column.Get_size(), column.Get_extent(), column.Get_envelope()[3] == MPI.COMBINER_VECTOR)
	made = [counted("Type_contiguous", MPI.DOUBLE.Create_contiguous, 3),
		counted("Type_indexed", MPI.INT.Create_indexed, [1, 2], [0, 3]),
		counted("Type_create_hindexed", MPI.INT.Create_hindexed, [1, 2], [0, 12]),
		counted("Type_create_struct", MPI.Datatype.Create_struct, [1, 2], [0, 8], [MPI.INT, MPI.DOUBLE]),
		counted("Type_create_subarray", MPI.INT.Create_subarray, [4, 4], [2, 2], [1, 1]),
		counted("Type_create_resized", MPI.INT.Create_resized, 0, 16),
		counted("Type_dup", column.Dup)]
	for t in made:
		counted("Type_commit", t.Commit)
		say("type", t.Get_size(), t.Get_extent(), t.Get_true_extent())
	got = ints(*([0] * 16))
	comm.Sendrecv([ints(*range(16)), 1, made[4]], dest=right, recvbuf=[got, 1, made[4]], source=left)
	say("subarray", got.tolist())
	packed = bytearray(made[1].Pack_size(1, world))
	end = counted("Pack", made[1].Pack, ints(*range(6)), packed, 0, world)
	got = ints(*([0] * 6))
	counted("Unpack", made[1].Unpack, packed, 0, got, world)
	say("pack", end, got.tolist())
	for t in made + [column]:
		counted("Type_free", t.Free)


def one_sided():
	memory = ints(*([rank] * 8))
	win = Counted(counted("Win_create", MPI.Win.Create, memory, 4, MPI.INFO_NULL, world), "MPI_Win_")
	rma = Counted(win.inner)
	win.Fence()
	rma.Put(ints(rank + 100, 7), right, target=[2, 2, MPI.INT])
	win.Fence()
	got = ints(0, 0)
	rma.Get(got, left, target=[2, 2, MPI.INT])
	win.Fence()
	say("Put Get", memory[:7].tolist(), got.tolist())
	rma.Accumulate(ints(1), 0, target=[7, 1, MPI.INT], op=MPI.SUM)
	win.Fence()
	say("Accumulate", memory[7])
	got = ints(0)
	win.Lock(0, MPI.LOCK_SHARED)
	rma.Fetch_and_op(ints(1), got, 0, 6, MPI.SUM)
	win.Flush(0)
	rma.Get_accumulate(ints(1), got, 0, target=[5, 1, MPI.INT], op=MPI.SUM)
	rma.Compare_and_swap(ints(-5), ints(0), got, 0, 4)
	win.Unlock(0)
	comm.Barrier()
	win.Lock_all()
	counted("Wait", rma.Rput(ints(3), right, target=[0, 1, MPI.INT]).Wait)
	win.Flush_all()
	comm.Barrier()
	counted("Wait", rma.Rget(got, left, target=[0, 1, MPI.INT]).Wait)
	win.Sync()
	win.Unlock_all()
	say("locked", memory.tolist() if rank == 0 else memory[:4].tolist(), got[0])
	group = counted("Comm_group", world.Get_group)
	to, of = (counted("Group_incl", group.Incl, [r]) for r in (right, left))
	win.Post(of)
	win.Start(to)
	rma.Put(ints(rank), right, target=[1, 1, MPI.INT])
	win.Complete()
	win.Wait()
	say("Post Start", memory[1])
	win.Free()
	shared = Counted(counted("Win_allocate_shared", MPI.Win.Allocate_shared, 16, 8, MPI.INFO_NULL, world), "MPI_Win_")
	part, unit = shared.inner.Shared_query(rank)
	shared.Fence()
	part[0:1] = bytes([rank])
	shared.Fence()
	say("shared", len(part), unit, bytes(shared.inner.Shared_query(left)[0][0:1]))
	shared.Free()
	owned = counted("Win_allocate", MPI.Win.Allocate, 64, 1, MPI.INFO_NULL, world)
	say("allocated", len(owned.tomemory()), owned.Get_group().Get_size())
	Counted(owned, "MPI_Win_").Free()


def files(folder):
	name = os.path.join(folder, "data")
	handle = counted("File_open", MPI.File.Open, world, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
	f = Counted(handle, "MPI_File_")
	f.Set_size(0)
	f.Set_view(0, MPI.INT, MPI.INT, "native")
	f.Write_at_all(rank * 4, ints(*range(rank * 4, rank * 4 + 4)))
	f.Sync()
	comm.Barrier()
	got, status = ints(0, 0, 0, 0), MPI.Status()
	f.Read_at(right * 4, got, status)
	say("file", got.tolist(), handle.Get_size(), status.Get_count(MPI.INT), handle.Get_position())
	f.Seek(left * 4)
	f.Read(got)
	say("file", got.tolist(), handle.Get_position())
	comm.Barrier()
	f.Write_at(rank * 4, ints(-rank))
	f.Sync()
	comm.Barrier()
	f.Read_at_all(0, got)
	say("file", got.tolist())
	f.Seek(0)
	f.Read_all(got)
	counted("Wait", f.Iread_at(4, got).Wait)
	say("file", got.tolist(), handle.Get_amode() == MPI.MODE_CREATE | MPI.MODE_RDWR)
	comm.Barrier()
	f.Close()
	comm.Barrier()
	if rank == 0:
		with open(name, "rb") as plain:
			say("file", array.array("i", plain.read()).tolist())
		counted("File_delete", MPI.File.Delete, name)


def errors():
	def fails(what, function, *args, **kw):
		try:
			function(*args, **kw)
			say(what, "no error")
		except MPI.Exception as e:
			say(what, e.Get_error_class(), e)
	fails("bad rank", comm.Send, ints(1), dest=size)
	fails("bad tag", comm.Send, ints(1), dest=right, tag=-7)
	fails("bad root", comm.Bcast, ints(1), root=size)
	fails("bad communicator", counted, "Send", MPI.COMM_NULL.Send, ints(1), dest=0)
	fails("no file", counted, "File_open", MPI.File.Open, MPI.COMM_SELF, "/none/there", MPI.MODE_RDONLY)
	fails("bad group", counted, "Group_incl", MPI.GROUP_EMPTY.Incl, [3])
	fails("bad dimensions", MPI.Compute_dims, size, [size + 1, 0])
	request = comm.Isend(ints(1, 2, 3, 4), dest=right, tag=6)
	fails("truncated", comm.Recv, ints(0), source=left, tag=6)
	counted("Wait", request.Wait)
	self_comm = counted("Comm_dup", MPI.COMM_SELF.Dup)
	self_comm.Set_errhandler(MPI.ERRORS_RETURN)
	fails("set handler", Counted(self_comm).Send, ints(1), dest=3)
	counted("Comm_free", self_comm.Free)


def spawned(parent):
	"""What a spawned process does."""
	everybody = of_all(world, rank)
	if parent.Get_rank() == 0:
		Counted(parent).Send(ints(size, *everybody), dest=0)
	got = ints(0)
	Counted(parent).Allreduce(ints(rank + 1), got)
	say("spawned", got[0])
	counted("Comm_disconnect", parent.Disconnect)


def spawn(folder):
	child = counted("Comm_spawn", world.Spawn, sys.executable, args=[os.path.abspath(__file__), folder], maxprocs=2)
	if rank == 0:
		got = ints(0, 0, 0)
		Counted(child).Recv(got, source=0)
		say("spawn", got.tolist())
	got = ints(0)
	Counted(child).Allreduce(ints(10), got)
	say("spawn", got[0], child.Get_remote_size())
	counted("Comm_disconnect", child.Disconnect)


def write_counts(name):
	with open(name, "w") as f:
		for function, calls in sorted(CALLS.items()):
			print(calls, function, file=f)


def main():
	folder = sys.argv[1]
	parent = MPI.Comm.Get_parent()
	if parent != MPI.COMM_NULL:
		spawned(parent)
		write_counts(os.path.join(folder, f"counts.spawned.{rank}"))
		return
	for section in (environment, blocking, nonblocking, persistent, collectives, topologies,
			communicators, attributes, datatypes, one_sided, errors):
		section()
	files(folder)
	if "pickled" in sys.argv[2:]:
		pickled()
	if "spawn" in sys.argv[2:]:
		spawn(folder)
	with open(os.path.join(folder, f"lines.{rank}"), "w") as f:
		f.write("".join(f"{rank} {line}\n" for line in LINES))
	comm.Barrier()
	write_counts(os.path.join(folder, f"counts.{rank}"))
	for r in range(size if rank == 0 else 0):
		with open(os.path.join(folder, f"lines.{r}")) as f:
			sys.stdout.write(f.read())


main()
