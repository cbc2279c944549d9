/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program sees of its standard input. Built with -DUSE_MPI it is a rank.
 *
 *	app-stdin sum [FILE]	reads all of it in bites of many sizes; what cksum(1) would print
 *				of it is then the file sum.RANK. With FILE, rank 0 alone reads,
 *				and FILE is how many bytes that were so far
 *	app-stdin send FILE	copies it to standard output, at most 16 KB ahead of that number
 *	app-stdin bytes N	reads N bytes and prints them
 *	app-stdin nothing	reads nothing
 *	app-stdin close FILE	closes it, and waits until FILE is there, 20 s at most
 *	app-stdin kind		prints what descriptor 0 is, and which number open() gives next
 *	app-stdin lines		says whether it is a terminal, "ready", each line, and its end
 */
#ifdef USE_MPI
#include <mpi.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define POLYNOMIAL 0x04c11db7u
#define AHEAD	   16384

static uint32_t table[256];
static int rank;

static void make_table(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i << 24;

		for (int k = 0; k < 8; k++)
			c = c & 0x80000000u ? c << 1 ^ POLYNOMIAL : c << 1;
		table[i] = c;
	}
}

static uint32_t add(uint32_t crc, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		crc = crc << 8 ^ table[(crc >> 24 ^ bytes[i]) & 0xff];
	return crc;
}

static int send(const char *file)
{
	int count = open(file, O_RDWR | O_CREAT, 0666);
	uint64_t sent = 0, got = 0;
	char bytes[4096];
	ssize_t n;

	while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0) {
		if (write(STDOUT_FILENO, bytes, (size_t)n) != n)
			return 1;
		sent += (uint64_t)n;
		while (sent > got + AHEAD && pread(count, &got, sizeof(got), 0) >= 0 &&
			sent > got + AHEAD)
			usleep(100);
	}
	return 0;
}

static int sum(const char *file)
{
	static unsigned char bytes[1 << 16];
	int count = file && !rank ? open(file, O_RDWR | O_CREAT, 0666) : -1;
	uint64_t total = 0;
	uint32_t crc = 0, bite = 1;
	char name[32];
	ssize_t n;
	FILE *f;

	make_table();
	while ((n = file && rank ? 0 : read(STDIN_FILENO, bytes, bite)) > 0) {
		crc = add(crc, bytes, (size_t)n);
		total += (uint64_t)n;
		if (count >= 0 && pwrite(count, &total, sizeof(total), 0) < 0)
			return 1;
		bite = (bite * 5 + 3) % sizeof(bytes) + 1;
	}
	if (n < 0)
		perror("read");
	for (uint64_t left = total; left; left >>= 8) {
		unsigned char low = (unsigned char)left;

		crc = add(crc, &low, 1);
	}
	snprintf(name, sizeof(name), "sum.%d", rank);
	f = fopen(name, "w");
	if (!f || fprintf(f, "%u %llu\n", ~crc, (unsigned long long)total) < 0 || fclose(f))
		return 1;
	return n < 0;
}

static int copy_bytes(long n)
{
	char c;

	while (n-- > 0 && read(STDIN_FILENO, &c, 1) == 1)
		putchar(c);
	return 0;
}

static int wait_closed(const char *file)
{
	close(STDIN_FILENO);
	for (int i = 0; access(file, F_OK); i++) {
		if (i == 2000)
			return 1;
		usleep(10000);
	}
	return 0;
}

static int kind(void)
{
	struct stat st;
	ssize_t n;
	char c;

	if (fstat(STDIN_FILENO, &st))
		printf("fstat: %s\n", strerror(errno));
	else
		printf("type %o device %llx flags %x\n", st.st_mode & (unsigned)S_IFMT,
			(unsigned long long)st.st_rdev, (unsigned)fcntl(STDIN_FILENO, F_GETFL));
	errno = 0;
	n = read(STDIN_FILENO, &c, 1);
	printf("read %zd: %s\n", n, strerror(errno));
	printf("open: %d\n", open("/dev/null", O_RDONLY));
	return 0;
}

static int lines(void)
{
	char line[256];

	printf("terminal %d\nready\n", isatty(STDIN_FILENO));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("read: %s%s", line, strchr(line, '\n') ? "" : "\n");
		fflush(stdout);
	}
	printf("the end\n");
	return 5;
}

static int run(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "sum"))
		return sum(argc > 2 ? argv[2] : NULL);
	if (!strcmp(what, "send") && argc > 2)
		return send(argv[2]);
	if (!strcmp(what, "bytes") && argc > 2)
		return copy_bytes(atol(argv[2]));
	if (!strcmp(what, "nothing"))
		return 0;
	if (!strcmp(what, "close") && argc > 2)
		return wait_closed(argv[2]);
	if (!strcmp(what, "kind"))
		return kind();
	return !strcmp(what, "lines") ? lines() : 2;
}

int main(int argc, char **argv)
{
	int status;

#ifdef USE_MPI
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
	status = run(argc, argv);
#ifdef USE_MPI
	MPI_Finalize();
#endif
	return status;
}
