/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls MPI with two libraries (this file with -DLIBRARY=NAME) that are linked to lie at the same
 * address, so that one of them lies elsewhere. Says so, if it is below: then the difference between
 * the two addresses, by which the loader moves all of it, is negative.
 */
#ifdef LIBRARY
int LIBRARY(void);
int LIBRARY(void)
{
	return 0;
}
#else
#include <link.h>
#include <mpi.h>
#include <stdio.h>

int one(void);
int two(void);

static int look(struct dl_phdr_info *module, size_t bytes, void *unused)
{
	(void)bytes;
	(void)unused;
	if (module->dlpi_addr >> (8 * sizeof(module->dlpi_addr) - 1))
		puts("one is below");
	return 0;
}

int main(void)
{
	int flag;

	MPI_Initialized(&flag);
	dl_iterate_phdr(look, NULL);
	return one() + two();
}
#endif
