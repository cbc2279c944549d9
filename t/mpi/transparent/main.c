/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the programs: all, or those named, or all but those named after `-x'.
 * `-t LEVEL' asks for a thread level. Rank 0 says its transcript on stdout, rank
 * N in the file PREFIX.N (`-o PREFIX'). `-l' lists the programs.
 */
#include <signal.h>
#include <stdarg.h>
#include <unistd.h>
#include "transparent.h"

MPI_Comm comm;
int rank, size, peer, provided_level;
bool left;
const char *own_file;
MPI_Errhandler counting;
int errors_counted, last_error_class;
MPI_Datatype garbage_type = (MPI_Datatype)(intptr_t)0x5a5a5a58;
void *garbage_array = (void *)8;

static FILE *transcript;
static const char *running = "start";

static const struct program *const groups[] = {send_programs, receive_programs, completion_programs,
	grequest_programs, error_programs, collective_programs, nonblocking_programs,
	persistent_programs, neighbour_programs, communicator_programs, attribute_programs,
	group_programs, intercomm_programs, window_programs, file_programs, datatype_programs,
	other_programs, thread_programs, dynamic_programs};

void say(const char *format, ...)
{
	va_list list;

	fprintf(transcript, "%s: ", running);
	va_start(list, format);
	vfprintf(transcript, format, list);
	va_end(list);
	putc('\n', transcript);
}

void check_at(bool ok, const char *file, int line, const char *text)
{
	const char *slash = strrchr(file, '/');
	static int failures;

	if (ok)
		return;
	if (++failures > 200)
		MPI_Abort(MPI_COMM_WORLD, 97);
	say("FAIL %s:%d: %s", slash ? slash + 1 : file, line, text);
}

const char *class_name(int code)
{
	static const struct {
		int class;
		const char *name;
	} names[] = {{MPI_SUCCESS, "success"}, {MPI_ERR_BUFFER, "buffer"}, {MPI_ERR_COUNT, "count"},
		{MPI_ERR_TYPE, "type"}, {MPI_ERR_TAG, "tag"}, {MPI_ERR_COMM, "comm"},
		{MPI_ERR_RANK, "rank"}, {MPI_ERR_REQUEST, "request"}, {MPI_ERR_ROOT, "root"},
		{MPI_ERR_GROUP, "group"}, {MPI_ERR_OP, "op"}, {MPI_ERR_TOPOLOGY, "topology"},
		{MPI_ERR_DIMS, "dims"}, {MPI_ERR_ARG, "arg"}, {MPI_ERR_UNKNOWN, "unknown"},
		{MPI_ERR_TRUNCATE, "truncate"}, {MPI_ERR_OTHER, "other"},
		{MPI_ERR_INTERN, "intern"}, {MPI_ERR_IN_STATUS, "in status"},
		{MPI_ERR_PENDING, "pending"}, {MPI_ERR_WIN, "win"}, {MPI_ERR_FILE, "file"},
		{MPI_ERR_INFO, "info"}, {MPI_ERR_KEYVAL, "keyval"},
		{MPI_ERR_NO_SUCH_FILE, "no such file"}, {MPI_ERR_ACCESS, "access"},
		{MPI_ERR_AMODE, "amode"}, {MPI_ERR_RMA_SYNC, "rma sync"}};
	static char other[24];
	int class = -1;

	MPI_Error_class(code, &class);
	for (int i = 0; i < COUNT_OF(names); i++)
		if (names[i].class == class)
			return names[i].name;
	snprintf(other, sizeof(other), "class %d", class);
	return other;
}

/* "MPI_Send(a, b)" without its arguments */
static int name_length(const char *call)
{
	return (int)strcspn(call, "(");
}

int call_ok(const char *file, int line, const char *call, int code)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;

	if (code == MPI_SUCCESS)
		return code;
	MPI_Error_string(code, text, &n);
	say("%.*s: %s", name_length(call), call, text);
	check_at(false, file, line, call);
	return code;
}

int call_bad(const char *file, int line, const char *call, int code)
{
	call_say(call, code);
	check_at(code != MPI_SUCCESS, file, line, call);
	return code;
}

int call_say(const char *call, int code)
{
	say("%.*s: %s", name_length(call), call, class_name(code));
	return code;
}

void mark(MPI_Status *status, int n)
{
	memset(status, 0xa5, n * sizeof(*status));
	for (int i = 0; i < n; i++)
		status[i].MPI_ERROR = 4711;
}

bool is_marked(const MPI_Status *status)
{
	MPI_Status other;

	mark(&other, 1);
	return memcmp(status, &other, sizeof(other)) == 0;
}

static void say_raw(const char *what, const MPI_Status *status)
{
	const unsigned char *bytes = (const unsigned char *)status;
	char text[2 * sizeof(*status) + 1];

	for (size_t i = 0; i < sizeof(*status); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	say("%s: raw %s", what, text);
}

void say_status(const char *what, const MPI_Status *status, MPI_Datatype type)
{
	int bytes = -77, count = -77, elements = -77, cancelled = -77;
	MPI_Count large = -77;

	OK(MPI_Get_count(status, MPI_BYTE, &bytes));
	OK(MPI_Get_count(status, type, &count));
	OK(MPI_Get_elements(status, type, &elements));
	OK(MPI_Get_elements_x(status, type, &large));
	OK(MPI_Test_cancelled(status, &cancelled));
	say("%s: source %d tag %d error %d bytes %d count %d elements %d/%d cancelled %d", what,
		status->MPI_SOURCE, status->MPI_TAG, status->MPI_ERROR, bytes, count, elements,
		(int)large, cancelled);
	say_raw(what, status);
}

void say_empty(const char *what, const MPI_Status *status)
{
	say_status(what, status, MPI_INT);
}

void want_at(const char *file, int line, const MPI_Status *status, int source, int tag,
	MPI_Datatype type, int count)
{
	int n = -1;

	MPI_Get_count(status, type, &n);
	check_at(status->MPI_SOURCE == source, file, line, "source");
	check_at(status->MPI_TAG == tag, file, line, "tag");
	check_at(n == count, file, line, "count");
}

void until_complete(int n, const MPI_Request *requests)
{
	for (int i = 0, flag = 0; i < n; i++, flag = 0)
		while (!flag)
			if (MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE))
				flag = 1;
}

void fill(int *a, int n, int first)
{
	for (int i = 0; i < n; i++)
		a[i] = first + i;
}

bool is_filled(const int *a, int n, int first)
{
	for (int i = 0; i < n; i++)
		if (a[i] != first + i)
			return false;
	return true;
}

unsigned checksum(const void *data, size_t bytes)
{
	unsigned sum = 2166136261U;

	for (size_t i = 0; i < bytes; i++)
		sum = (sum ^ ((const unsigned char *)data)[i]) * 16777619U;
	return sum;
}

static void count_error(MPI_Comm *where, int *code, ...)
{
	(void)where;
	errors_counted++;
	MPI_Error_class(*code, &last_error_class);
}

static void hangs(int signal)
{
	(void)signal;
	fprintf(stderr, "FAIL %s: still running on rank %d\n", running, rank);
	fflush(transcript);
	_exit(99);
}

/* Longer where others want the CPUs. */
static unsigned patience(void)
{
	double load = 0;

	getloadavg(&load, 1);
	return 30 * (1 + (unsigned)(load / (double)sysconf(_SC_NPROCESSORS_ONLN)));
}

static void run(const struct program *p)
{
	running = p->name;
	if (size < p->ranks) {
		if (rank == 0)
			say("needs %d ranks", p->ranks);
		return;
	}
	alarm(patience());
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	errors_counted = 0;
	if (p->ranks != PAIR || peer < size)
		p->run();
	say("done");
	fflush(transcript);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm);
}

static bool named(const char *name, int n, char **names)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static void each_group(bool list, bool except, int n, char **names)
{
	for (int g = 0; g < COUNT_OF(groups); g++) {
		for (const struct program *p = groups[g]; p->name; p++) {
			if (list)
				puts(p->name);
			else if (n == 0 || named(p->name, n, names) != except)
				run(p);
		}
	}
}

int main(int argc, char **argv)
{
	const char *prefix = "transcript";
	int option, level = -1, flag = -1, done = -1, version, subversion;
	bool list = false, except = false;
	char name[300];

	own_file = argv[0];
	while ((option = getopt(argc, argv, "o:t:lx")) != -1) {
		switch (option) {
		case 'o':
			prefix = optarg;
			break;
		case 't':
			level = atoi(optarg);
			break;
		case 'l':
			list = true;
			break;
		case 'x':
			except = true;
			break;
		default:
			return 2;
		}
	}
	if (list) {
		each_group(true, false, 0, NULL);
		return 0;
	}
	transcript = stdout;
	MPI_Initialized(&flag);
	MPI_Finalized(&done);
	MPI_Get_version(&version, &subversion);
	if (level < 0) {
		MPI_Init(&argc, &argv);
		MPI_Query_thread(&provided_level);
	} else {
		MPI_Init_thread(&argc, &argv, level, &provided_level);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	peer = rank ^ 1;
	left = rank % 2 == 0;
	if (rank) {
		snprintf(name, sizeof(name), "%s.%d", prefix, rank);
		transcript = fopen(name, "w");
		if (!transcript)
			MPI_Abort(MPI_COMM_WORLD, 98);
	}
	signal(SIGALRM, hangs);
	say("before: initialized %d finalized %d version %d.%d level %d", flag, done, version,
		subversion, provided_level);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_create_errhandler(count_error, &counting);
	each_group(false, except, argc - optind, argv + optind);
	running = "end";
	MPI_Errhandler_free(&counting);
	alarm(patience());
	MPI_Finalize();
	MPI_Initialized(&flag);
	MPI_Finalized(&done);
	MPI_Get_version(&version, &subversion);
	say("after: initialized %d finalized %d version %d.%d", flag, done, version, subversion);
	return 0;
}
