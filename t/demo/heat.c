/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat spreading over a square plate, the usual first example of an MPI
 * program: the plate is cut into NX x NY points on a 2-D grid of ranks, each
 * step exchanges the rims of the pieces, moves every point towards the mean of
 * its neighbours, and adds up how much has changed (one reduction a step).
 *
 *   mpirun -np 4 heat [NX NY STEPS]
 *
 * With -fopenmp each rank works with a team of threads, and two of them
 * exchange the rims. heat.f90 is the same program in Fortran, without threads,
 * and prints the same numbers.
 */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { WEST, EAST, NORTH, SOUTH };

struct plate {
	int nx, ny; /* points of this rank, without the rim */
	int x0, y0; /* where they begin on the whole plate */
	int width;  /* points in a row, with the rim */
	double *now, *next;
	MPI_Comm comm;
	MPI_Datatype column;
	int neighbour[4];
	int several; /* threads may call MPI at the same time */
};

static const double conductivity = 0.2;

/* Where row y begins; not traced, as a hook costs more than it does. */
__attribute__((no_instrument_function)) static double *row(
	double *field, const struct plate *p, int y)
{
	return field + (size_t)y * p->width;
}

/* The share of n points that part k of `parts' gets, and where it begins. */
static int share(int n, int parts, int k, int *begin)
{
	*begin = (int)((long)n * k / parts);
	return (int)((long)n * (k + 1) / parts) - *begin;
}

static void cut(struct plate *p, int nx, int ny)
{
	int size, rank, dims[2] = {0, 0}, periods[2] = {0, 0}, at[2];

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, dims);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &p->comm);
	MPI_Comm_rank(p->comm, &rank);
	MPI_Cart_coords(p->comm, rank, 2, at);
	MPI_Cart_shift(p->comm, 0, 1, &p->neighbour[NORTH], &p->neighbour[SOUTH]);
	MPI_Cart_shift(p->comm, 1, 1, &p->neighbour[WEST], &p->neighbour[EAST]);
	p->ny = share(ny, dims[0], at[0], &p->y0);
	p->nx = share(nx, dims[1], at[1], &p->x0);
	p->width = p->nx + 2;
	MPI_Type_vector(p->ny, 1, p->width, MPI_DOUBLE, &p->column);
	MPI_Type_commit(&p->column);
}

/* A hot spot in the middle third of a cold plate with cold edges. */
static void warm(struct plate *p, int nx, int ny)
{
	const size_t points = (size_t)p->width * (p->ny + 2);

	p->now = calloc(points, sizeof(double));
	p->next = calloc(points, sizeof(double));
	if (!p->now || !p->next) {
		fprintf(stderr, "heat: no memory for %zu points\n", points);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int y = 1; y <= p->ny; y++) {
		const int gy = p->y0 + y - 1;

		if (gy < ny / 3 || gy >= 2 * ny / 3)
			continue;
		for (int x = 1; x <= p->nx; x++)
			if (p->x0 + x - 1 >= nx / 3 && p->x0 + x - 1 < 2 * nx / 3)
				p->now[(size_t)y * p->width + x] = 100.0;
	}
}

/* One rim: sent to `to', while the opposite one comes from `from'. */
static void exchange_rim(struct plate *p, double *send, double *receive, int count,
	MPI_Datatype type, int to, int from, MPI_Request req[2])
{
	MPI_Irecv(receive, count, type, p->neighbour[from], to, p->comm, &req[0]);
	MPI_Isend(send, count, type, p->neighbour[to], to, p->comm, &req[1]);
}

static void exchange_rows(struct plate *p, double *u)
{
	MPI_Request req[4];

	exchange_rim(
		p, row(u, p, p->ny) + 1, row(u, p, 0) + 1, p->nx, MPI_DOUBLE, SOUTH, NORTH, req);
	exchange_rim(p, row(u, p, 1) + 1, row(u, p, p->ny + 1) + 1, p->nx, MPI_DOUBLE, NORTH, SOUTH,
		req + 2);
	MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
}

static void exchange_columns(struct plate *p, double *u)
{
	MPI_Request req[4];

	exchange_rim(p, row(u, p, 1) + p->nx, row(u, p, 1), 1, p->column, EAST, WEST, req);
	exchange_rim(
		p, row(u, p, 1) + 1, row(u, p, 1) + p->nx + 1, 1, p->column, WEST, EAST, req + 2);
	MPI_Waitall(4, req, MPI_STATUSES_IGNORE);
}

/* With OpenMP one thread speaks to north and south, another one to west and east. */
static void exchange_halo(struct plate *p)
{
#pragma omp parallel sections num_threads(2) if (p->several)
	{
#pragma omp section
		exchange_rows(p, p->now);
#pragma omp section
		exchange_columns(p, p->now);
	}
}

static void update_row(
	const double *above, const double *here, const double *below, double *next, int nx)
{
	for (int x = 1; x <= nx; x++)
		next[x] = here[x] + conductivity * (above[x] + below[x] + here[x - 1] +
							   here[x + 1] - 4.0 * here[x]);
}

static void update(struct plate *p)
{
#pragma omp parallel for
	for (int y = 1; y <= p->ny; y++)
		update_row(row(p->now, p, y - 1), row(p->now, p, y), row(p->now, p, y + 1),
			row(p->next, p, y), p->nx);
}

static double row_change(const double *now, const double *next, int nx)
{
	double sum = 0.0;

	for (int x = 1; x <= nx; x++)
		sum += (next[x] - now[x]) * (next[x] - now[x]);
	return sum;
}

/* How much the plate has changed in this step, over all ranks. */
static double residual(struct plate *p)
{
	double sum = 0.0, total;

#pragma omp parallel for reduction(+ : sum)
	for (int y = 1; y <= p->ny; y++)
		sum += row_change(row(p->now, p, y), row(p->next, p, y), p->nx);
	MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, p->comm);
	return sqrt(total);
}

static void step(struct plate *p, double *change)
{
	double *old = p->now;

	exchange_halo(p);
	update(p);
	*change = residual(p);
	p->now = p->next;
	p->next = old;
}

static void output(struct plate *p, int nx, int ny, int steps, double change)
{
	double heat = 0.0, total = 0.0;
	int rank;

	for (int y = 1; y <= p->ny; y++)
		for (int x = 1; x <= p->nx; x++)
			heat += p->now[(size_t)y * p->width + x];
	MPI_Reduce(&heat, &total, 1, MPI_DOUBLE, MPI_SUM, 0, p->comm);
	MPI_Comm_rank(p->comm, &rank);
	if (rank == 0)
		printf("%d x %d points, %d steps: mean %.6f, residual %.6E\n", nx, ny, steps,
			total / ((double)nx * ny), change);
}

int main(int argc, char **argv)
{
	struct plate p;
	double change = 0.0;

#ifdef _OPENMP
	int level;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
	p.several = level == MPI_THREAD_MULTIPLE;
#else
	p.several = 0;
	MPI_Init(&argc, &argv);
#endif

	const int nx = argc > 1 ? atoi(argv[1]) : 2000;
	const int ny = argc > 2 ? atoi(argv[2]) : 2000;
	const int steps = argc > 3 ? atoi(argv[3]) : 500;

	if (nx < 1 || ny < 1 || steps < 0) {
		fprintf(stderr, "usage: heat [NX NY STEPS]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	cut(&p, nx, ny);
	warm(&p, nx, ny);
	for (int i = 0; i < steps; i++)
		step(&p, &change);
	output(&p, nx, ny, steps, change);
	free(p.now);
	free(p.next);
	MPI_Type_free(&p.column);
	MPI_Comm_free(&p.comm);
	MPI_Finalize();
	return 0;
}
