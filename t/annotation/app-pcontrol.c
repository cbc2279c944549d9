/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pcontrol(1, name) and MPI_Pcontrol(-1, name), as for IPM, and others that have no name; with
 * an argument, calls without a second parameter. */
#include <mpi.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Ends where memory ends. */
static char *at_the_edge(const char *text)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = strlen(text) + 1;
	char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(p + page, page);
	return memcpy(p + page - bytes, text, bytes);
}

int main(int argc, char **argv)
{
	char *edge = at_the_edge("at the edge");

	MPI_Init(&argc, &argv);
	for (int i = 0; argc > 1 && i < 5; i++) {
		MPI_Pcontrol(1);
		MPI_Pcontrol(-1);
	}
	for (int i = 0; i < 5; i++) {
		MPI_Pcontrol(1, "solver");
		MPI_Pcontrol(1, edge);
		MPI_Pcontrol(-1, edge);
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Pcontrol(-1, "solver");
	}
	/* no names */
	MPI_Pcontrol(1, NULL);
	MPI_Pcontrol(1, (char *)16);
	MPI_Pcontrol(-1, (char *)UINTPTR_MAX);
	MPI_Pcontrol(1, "");
	MPI_Pcontrol(1, "\001\002");
	MPI_Pcontrol(2, "not for us");
	MPI_Finalize();
	return 0;
}
