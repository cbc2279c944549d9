/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions before and after the calls of each class, which is the word behind @ in
 * mpi/generate/mpi.tab. A row here is CLASS(name): vftr_begin_name() and vftr_end_name()
 * exist. Each runs on the thread that calls, inside of the frame of the call.
 */
#ifndef VFTR_MPI_RECORDER_RECORDERS_H
#define VFTR_MPI_RECORDER_RECORDERS_H

#include "mpi/call.h"

#define RECORDERS(CLASS)                                                                           \
	/* point to point: p2p.c */                                                                \
	CLASS(send)                                                                                \
	CLASS(isend)                                                                               \
	CLASS(recv)                                                                                \
	CLASS(irecv)                                                                               \
	CLASS(probe)                                                                               \
	CLASS(sendrecv)                                                                            \
	CLASS(sendrecv_replace)                                                                    \
	CLASS(isendrecv)                                                                           \
	CLASS(isendrecv_replace)                                                                   \
	/* matched.c */                                                                            \
	CLASS(mprobe)                                                                              \
	CLASS(improbe)                                                                             \
	CLASS(mrecv)                                                                               \
	CLASS(imrecv)                                                                              \
	/* persistent.c */                                                                         \
	CLASS(send_init)                                                                           \
	CLASS(recv_init)                                                                           \
	CLASS(psend_init)                                                                          \
	CLASS(precv_init)                                                                          \
	CLASS(start)                                                                               \
	CLASS(startall)                                                                            \
	CLASS(pready)                                                                              \
	CLASS(pready_range)                                                                        \
	CLASS(pready_list)                                                                         \
	/* complete.c */                                                                           \
	CLASS(wait)                                                                                \
	CLASS(waitall)                                                                             \
	CLASS(waitany)                                                                             \
	CLASS(waitsome)                                                                            \
	CLASS(test)                                                                                \
	CLASS(testall)                                                                             \
	CLASS(testany)                                                                             \
	CLASS(testsome)                                                                            \
	CLASS(cancel)                                                                              \
	CLASS(request_free)                                                                        \
	/* collective.c */                                                                         \
	CLASS(collective)                                                                          \
	CLASS(icollective)                                                                         \
	CLASS(collective_init)                                                                     \
	/* comm-made.c */                                                                          \
	CLASS(comm_new)                                                                            \
	CLASS(comm_idup)                                                                           \
	CLASS(comm_free)                                                                           \
	CLASS(comm_name)                                                                           \
	/* window.c */                                                                             \
	CLASS(win_new)                                                                             \
	CLASS(win_free)                                                                            \
	CLASS(win_name)                                                                            \
	CLASS(rma)                                                                                 \
	CLASS(epoch)                                                                               \
	/* file.c */                                                                               \
	CLASS(file_open)                                                                           \
	CLASS(file_close)                                                                          \
	CLASS(file_io)                                                                             \
	CLASS(file_end)                                                                            \
	/* type.c */                                                                               \
	CLASS(type_new)                                                                            \
	CLASS(type_free)                                                                           \
	/* init.c */                                                                               \
	CLASS(init)                                                                                \
	CLASS(session_init)                                                                        \
	CLASS(finalize)                                                                            \
	CLASS(aborting)

#define CLASS(name)                                                                                \
	void vftr_begin_##name(struct mpi_call *k);                                                \
	void vftr_end_##name(struct mpi_call *k);
RECORDERS(CLASS)
#undef CLASS

#endif
