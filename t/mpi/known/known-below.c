/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tracer calls in place of MPI's own functions, as a program may have them by MPI's
 * profiling interface: stamps between which MPI has worked.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>

#include "known.h"

#define BELOW(name, parameters, arguments)                                                         \
	KNOWN_UNTRACED int PMPI_##name parameters                                                  \
	{                                                                                          \
		static int(*real) parameters;                                                      \
		struct known_stamp *stamp = known_below();                                         \
		int result;                                                                        \
                                                                                                   \
		if (!real)                                                                         \
			*(void **)&real = dlsym(RTLD_NEXT, "PMPI_" #name);                         \
		result = real arguments;                                                           \
		if (stamp)                                                                         \
			stamp->leaving = known_now();                                              \
		return result;                                                                     \
	}

BELOW(Send, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
	(b, n, t, to, tag, c))
BELOW(Ssend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c),
	(b, n, t, to, tag, c))
BELOW(Recv, (void *b, int n, MPI_Datatype t, int of, int tag, MPI_Comm c, MPI_Status *s),
	(b, n, t, of, tag, c, s))
BELOW(Probe, (int of, int tag, MPI_Comm c, MPI_Status *s), (of, tag, c, s))
BELOW(Mprobe, (int of, int tag, MPI_Comm c, MPI_Message *m, MPI_Status *s), (of, tag, c, m, s))
BELOW(Isend, (const void *b, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request *r),
	(b, n, t, to, tag, c, r))
BELOW(Irecv, (void *b, int n, MPI_Datatype t, int of, int tag, MPI_Comm c, MPI_Request *r),
	(b, n, t, of, tag, c, r))
BELOW(Wait, (MPI_Request * r, MPI_Status *s), (r, s))
BELOW(Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s))
BELOW(Waitany, (int n, MPI_Request *r, int *at, MPI_Status *s), (n, r, at, s))
BELOW(Waitsome, (int n, MPI_Request *r, int *m, int *at, MPI_Status *s), (n, r, m, at, s))
BELOW(Sendrecv,
	(const void *b, int n, MPI_Datatype t, int to, int tag, void *in, int m, MPI_Datatype u,
		int of, int tag_of, MPI_Comm c, MPI_Status *s),
	(b, n, t, to, tag, in, m, u, of, tag_of, c, s))
BELOW(Barrier, (MPI_Comm c), (c))
BELOW(Bcast, (void *b, int n, MPI_Datatype t, int root, MPI_Comm c), (b, n, t, root, c))
BELOW(Scatter,
	(const void *b, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, int root,
		MPI_Comm c),
	(b, n, t, to, m, u, root, c))
BELOW(Scatterv,
	(const void *b, const int *n, const int *at, MPI_Datatype t, void *to, int m,
		MPI_Datatype u, int root, MPI_Comm c),
	(b, n, at, t, to, m, u, root, c))
BELOW(Reduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op op, int root, MPI_Comm c),
	(b, to, n, t, op, root, c))
BELOW(Gather,
	(const void *b, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, int root,
		MPI_Comm c),
	(b, n, t, to, m, u, root, c))
BELOW(Gatherv,
	(const void *b, int n, MPI_Datatype t, void *to, const int *m, const int *at,
		MPI_Datatype u, int root, MPI_Comm c),
	(b, n, t, to, m, at, u, root, c))
BELOW(Alltoall, (const void *b, int n, MPI_Datatype t, void *to, int m, MPI_Datatype u, MPI_Comm c),
	(b, n, t, to, m, u, c))
BELOW(Allreduce, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
	(b, to, n, t, op, c))
BELOW(Scan, (const void *b, void *to, int n, MPI_Datatype t, MPI_Op op, MPI_Comm c),
	(b, to, n, t, op, c))
BELOW(Comm_dup, (MPI_Comm c, MPI_Comm *to), (c, to))
BELOW(Comm_idup, (MPI_Comm c, MPI_Comm *to, MPI_Request *r), (c, to, r))
BELOW(Comm_split, (MPI_Comm c, int color, int key, MPI_Comm *to), (c, color, key, to))
BELOW(Comm_create, (MPI_Comm c, MPI_Group g, MPI_Comm *to), (c, g, to))
BELOW(Comm_create_group, (MPI_Comm c, MPI_Group g, int tag, MPI_Comm *to), (c, g, tag, to))
BELOW(Cart_create, (MPI_Comm c, int n, const int *in, const int *round, int reorder, MPI_Comm *to),
	(c, n, in, round, reorder, to))
BELOW(Cart_sub, (MPI_Comm c, const int *in, MPI_Comm *to), (c, in, to))
BELOW(Intercomm_merge, (MPI_Comm c, int high, MPI_Comm *to), (c, high, to))
BELOW(File_open, (MPI_Comm c, const char *name, int how, MPI_Info i, MPI_File *f),
	(c, name, how, i, f))
BELOW(File_close, (MPI_File * f), (f))
BELOW(File_set_size, (MPI_File f, MPI_Offset bytes), (f, bytes))
BELOW(Win_create, (void *b, MPI_Aint n, int unit, MPI_Info i, MPI_Comm c, MPI_Win *w),
	(b, n, unit, i, c, w))
BELOW(Win_free, (MPI_Win * w), (w))
BELOW(Win_fence, (int assert, MPI_Win w), (assert, w))
BELOW(Win_post, (MPI_Group g, int assert, MPI_Win w), (g, assert, w))
BELOW(Win_start, (MPI_Group g, int assert, MPI_Win w), (g, assert, w))
BELOW(Win_complete, (MPI_Win w), (w))
BELOW(Win_wait, (MPI_Win w), (w))
BELOW(Win_lock, (int how, int of, int assert, MPI_Win w), (how, of, assert, w))
BELOW(Win_lock_all, (int assert, MPI_Win w), (assert, w))
BELOW(Win_flush, (int of, MPI_Win w), (of, w))
BELOW(Win_flush_all, (MPI_Win w), (w))
BELOW(Win_unlock, (int of, MPI_Win w), (of, w))
BELOW(Win_unlock_all, (MPI_Win w), (w))
#if MPI_VERSION >= 4
BELOW(Pready, (int part, MPI_Request r), (part, r))
#endif
