/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The call of MPI that a thread is in, as the memory of its process has it. From it the agent
 * learns for which requests a thread waits, and no thread has to store anything for that. The agent
 * reads it with process_vm_readv(2), and only while a viewer looks. It is not in shared memory and
 * may change while it is read: the reader checks all of it, and reads it a second time to compare.
 *
 * A wrapper has a struct mpi_call on its stack (mpi/call.h). The compiler writes its place there
 * into a note, as an operand of the assembler, which costs no instruction. The stack address of a
 * thread's outermost call is kept anyway (mpi/call.c).
 */
#ifndef VFTR_SHM_LOOK_H
#define VFTR_SHM_LOOK_H

#include <stdint.h>

#define LOOK_MAGIC 0x31304b4f4f4cull /* "LOOK01" */

/*
 * At control_app_shm.look of its process. Addresses are those of the process, offsets are in struct
 * mpi_call.
 */
struct mpi_look {
	uint64_t magic;
	uint64_t notes, notes_bytes; /* addresses: struct look_note, one behind the other */
	int64_t outer; /* from ring_producer_shm.pointer to the address of the outermost call's
			  frame, which is LOOK_FRAME bytes below the stack of its wrapper */
	uint32_t call_bytes;
	uint32_t id, language, number, handle, own; /* offsets */
	uint32_t handle_bytes;
	uint32_t apart_bits;		  /* look_bucket() */
	uint64_t entries, buckets, shift; /* addresses of the variables of the table of requests */
	uint64_t multiple; /* address of a byte: 1: several threads may be inside of MPI, and a
			      handle may be that of another request by now */
};

#define LOOK_FRAME 16

/*
 * The place of a wrapper's struct mpi_call: text is "16(%rsp)", then zeros up to a multiple of 4.
 */
struct look_note {
	uint32_t id, language;
	char text[];
};

/* Adds the note that says where k.id is, the first member. No instruction is executed. */
#if defined(__x86_64__)
#define LOOK_NOTE(k, number, language)                                                             \
	__asm__ volatile(".pushsection vftr_looks,\"a\",@progbits\n\t"                             \
			 ".long %c1, %c2\n\t"                                                      \
			 ".asciz \"%0\"\n\t"                                                       \
			 ".balign 4\n\t"                                                           \
			 ".popsection"                                                             \
			 :                                                                         \
			 : "m"((k).id), "i"(number), "i"(language))
#else
#define LOOK_NOTE(k, number, language) ((void)0)
#endif

/*
 * The calling thread's pointer to its own variables, for ring_producer_shm.pointer; 0: not known.
 */
static inline uint64_t look_pointer(void)
{
	uint64_t pointer = 0;

#if defined(__x86_64__)
	__asm__("mov %%fs:0, %0" : "=r"(pointer));
#endif
	return pointer;
}

/* What MPI_Waitall and similar functions have beside their struct mpi_call, at its member `own`. */
struct look_before {
	int32_t n;
	uint32_t unused;
	uint64_t handles; /* address */
};

/* An entry of the table of requests; their numbers begin with 1. */
struct look_entry {
	uint64_t key; /* the handle, and zeros */
	uint64_t more;
	uint32_t number; /* of the operation under way, as in the records; 0: none */
	uint32_t next;	 /* in its bucket, newest first; 0: none */
	uint32_t what;
};

/*
 * The bucket of a handle. Handles come out of pools and are used again and again, so those of one
 * page of a pool share a cache line of buckets. Two neighbours differ by 1 if handles are numbers,
 * by hundreds if they are addresses (apart_bits). Pages follow each other, too: multiplied by the
 * golden ratio, they spread evenly.
 */
#define LOOK_LINE_BUCKETS 16u
static inline uint64_t look_bucket(uint64_t key, unsigned shift, unsigned apart_bits)
{
	const uint64_t place = key >> apart_bits, page = place / LOOK_LINE_BUCKETS;

	return (page * 0x9e3779b97f4a7c15u >> shift) * LOOK_LINE_BUCKETS +
	       place % LOOK_LINE_BUCKETS;
}

#endif
