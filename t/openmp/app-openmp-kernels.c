/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What OpenMP programs spend their time with, for t3206: conjugate gradients
 * with a sparse matrix (many small parallel loops), a Cholesky factorisation in
 * blocks (tasks with dependences), merge sort (tasks that make tasks), and a
 * histogram (critical). Prints results that do not depend on the order of the
 * threads, and writes "CALLS CONSTRUCT@FILE:LINE" to the file `counts'.
 *
 *   app-openmp-kernels
 */
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 512

static const char *construct_at[LINES];
static unsigned long calls_at[LINES];

/* The line after this one begins a construct. */
#define COUNT(construct, n) count(construct, __LINE__ + 1, n)

static void count(const char *construct, int line, unsigned long n)
{
	__atomic_store_n(&construct_at[line], construct, __ATOMIC_RELAXED);
	__atomic_fetch_add(&calls_at[line], n, __ATOMIC_RELAXED);
}

static int write_counts(void)
{
	FILE *f = fopen("counts", "w");

	if (!f)
		return 1;
	for (int i = 0; i < LINES; i++)
		if (construct_at[i])
			fprintf(f, "%lu %s@app-openmp-kernels.c:%d\n", calls_at[i], construct_at[i],
				i);
	return fclose(f) != 0;
}

/* ---- conjugate gradients: the equation of Poisson on SIDE x SIDE points ---- */

#define SIDE   60
#define POINTS (SIDE * SIDE)

static double sum_of_products(const double *a, const double *b)
{
	double sum = 0;

	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < POINTS; i++)
		sum += a[i] * b[i];
	return sum;
}

static void apply(const double *x, double *y)
{
	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel for schedule(static)
	for (int i = 0; i < POINTS; i++) {
		double sum = 4 * x[i];

		sum -= i >= SIDE ? x[i - SIDE] : 0;
		sum -= i < POINTS - SIDE ? x[i + SIDE] : 0;
		sum -= i % SIDE ? x[i - 1] : 0;
		sum -= (i + 1) % SIDE ? x[i + 1] : 0;
		y[i] = sum;
	}
}

/* y = a * x + b * y */
static void add(double a, const double *x, double b, double *y)
{
	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel for
	for (int i = 0; i < POINTS; i++)
		y[i] = a * x[i] + b * y[i];
}

static void conjugate_gradients(void)
{
	static double x[POINTS], r[POINTS], p[POINTS], q[POINTS];
	double now, next;

	for (int i = 0; i < POINTS; i++)
		p[i] = r[i] = 1;
	now = sum_of_products(r, r);
	for (int step = 0; step < 100; step++) {
		double a;

		apply(p, q);
		a = now / sum_of_products(p, q);
		add(a, p, 1, x);
		add(-a, q, 1, r);
		next = sum_of_products(r, r);
		add(1, r, next / now, p);
		now = next;
	}
	printf("conjugate gradients %.6f\n", x[POINTS / 2]);
}

/* ---- Cholesky: BLOCKS x BLOCKS blocks of SIZE x SIZE numbers ---- */

#define BLOCKS 8
#define SIZE   24

typedef double block[SIZE][SIZE];
static block matrix[BLOCKS * BLOCKS];

static void factor(block a)
{
	for (int j = 0; j < SIZE; j++) {
		for (int k = 0; k < j; k++)
			for (int i = j; i < SIZE; i++)
				a[i][j] -= a[i][k] * a[j][k];
		for (int i = SIZE - 1; i >= j; i--)
			a[i][j] /= sqrt(a[j][j]);
	}
}

static void solve(block l, block a)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++) {
			for (int k = 0; k < j; k++)
				a[i][j] -= a[i][k] * l[j][k];
			a[i][j] /= l[j][j];
		}
}

static void subtract(block a, block b, block c)
{
	for (int i = 0; i < SIZE; i++)
		for (int j = 0; j < SIZE; j++)
			for (int k = 0; k < SIZE; k++)
				c[i][j] -= a[i][k] * b[j][k];
}

static void cholesky_tasks(void)
{
	for (int k = 0; k < BLOCKS; k++) {
		block *column = matrix + k, *diagonal = column + k * BLOCKS;

		COUNT("omp_task", 1);
#pragma omp task depend(inout : diagonal[0])
		factor(*diagonal);
		for (int i = k + 1; i < BLOCKS; i++) {
			block *to = column + i * BLOCKS;

			COUNT("omp_task", 1);
#pragma omp task depend(in : diagonal[0]) depend(inout : to[0])
			solve(*diagonal, *to);
		}
		for (int i = k + 1; i < BLOCKS; i++)
			for (int j = k + 1; j <= i; j++) {
				block *a = column + i * BLOCKS, *b = column + j * BLOCKS;
				block *to = matrix + i * BLOCKS + j;

				COUNT("omp_task", 1);
#pragma omp task depend(in : a[0], b[0]) depend(inout : to[0])
				subtract(*a, *b, *to);
			}
	}
}

static void cholesky(void)
{
	double sum = 0;

	for (int i = 0; i < BLOCKS * SIZE; i++)
		for (int j = 0; j < BLOCKS * SIZE; j++)
			matrix[i / SIZE * BLOCKS + j / SIZE][i % SIZE][j % SIZE] =
				i == j ? BLOCKS * SIZE : 1.0 / (1 + abs(i - j));
	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel
#pragma omp single
	cholesky_tasks();
	for (int i = 0; i < BLOCKS * SIZE; i++)
		sum += log(matrix[i / SIZE * (BLOCKS + 1)][i % SIZE][i % SIZE]);
	printf("cholesky %.6f\n", sum);
}

/* ---- merge sort ---- */

#define NUMBERS 100000

static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static void sort(int *a, int *room, int n)
{
	int half = n / 2, i = 0, j = half, k = 0;

	if (n < 1000) {
		qsort(a, (size_t)n, sizeof(*a), compare);
		return;
	}
	COUNT("omp_task", 1);
#pragma omp task
	sort(a, room, half);
	COUNT("omp_task", 1);
#pragma omp task
	sort(a + half, room + half, n - half);
	COUNT("omp_taskwait", 1);
#pragma omp taskwait
	while (i < half && j < n)
		room[k++] = a[i] <= a[j] ? a[i++] : a[j++];
	while (i < half)
		room[k++] = a[i++];
	memcpy(a, room, sizeof(*a) * (size_t)k); /* what is behind has its place */
}

static void merge_sort(void)
{
	static int numbers[NUMBERS], room[NUMBERS];
	unsigned int seed = 1;

	for (int i = 0; i < NUMBERS; i++) {
		seed = seed * 1664525 + 1013904223;
		numbers[i] = (int)(seed >> 2);
	}
	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel
#pragma omp single
	sort(numbers, room, NUMBERS);
	for (int i = 1; i < NUMBERS; i++)
		if (numbers[i - 1] > numbers[i])
			exit(1);
	printf("sort %d %d\n", numbers[0], numbers[NUMBERS - 1]);
}

/* ---- histogram ---- */

static void histogram(void)
{
	int most = 0, bins[16] = {0};

	COUNT("omp_parallel", (unsigned long)omp_get_max_threads());
#pragma omp parallel
	{
		int mine[16] = {0};

#pragma omp for schedule(dynamic, 100)
		for (int i = 0; i < 10000; i++)
			mine[(unsigned int)i * 2654435761u >> 28]++;
		COUNT("omp_critical", 1);
#pragma omp critical
		for (int i = 0; i < 16; i++)
			bins[i] += mine[i];
	}
	for (int i = 0; i < 16; i++)
		most = bins[i] > most ? bins[i] : most;
	printf("histogram %d\n", most);
}

int main(void)
{
	conjugate_gradients();
	cholesky();
	merge_sort();
	histogram();
	return write_counts();
}
