/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of communication of profiles made in memory: 1 rank, 4 ranks, 40
 * ranks on 5 nodes, more nodes than a log shows, nothing, and huge numbers.
 */
#include "mpi_id.h"
#include "nodeagent/match/match.h"
#include "shm/wire.h"
#include "t/unit/report/output-files.h"
#include "t/lib/suite.h"

static void ranks(uint32_t n)
{
	p->world_size = p->ranks = p->threads = n;
}

/* Ranks of one node: n from `first` on. */
static void place(uint32_t first, uint32_t n, const char *host)
{
	struct profile_rank_range *q = ADD_ELEMENT(p, rank_ranges);

	*q = (struct profile_rank_range){first, first + n - 1, xstrdup(host)};
}

static void pair(uint32_t from, uint32_t to, uint64_t sends, uint64_t bytes)
{
	struct profile_pair *q = ADD_ELEMENT(p, pairs);

	*q = (struct profile_pair){from, to, sends, bytes, sends, bytes};
}

static void function(uint32_t id, uint32_t n, uint64_t calls, uint64_t ms, uint64_t min_ms,
	uint32_t rank_min, uint64_t max_ms, uint32_t rank_max)
{
	struct profile_function *f = ADD_ELEMENT(p, functions);

	*f = (struct profile_function){.id = id,
		.ranks = n,
		.calls = calls,
		.ns = ms * MS,
		.min_ns = min_ms * MS,
		.max_ns = max_ms * MS,
		.rank_min = rank_min,
		.rank_max = rank_max};
}

/* Four ranks: MPI_Send and MPI_Recv below main, 10 messages of 1000 bytes and one of none. */
static void setup(void)
{
	setup_files();
	ranks(4);

	uint32_t init = add_stack(p, PROFILE_NONE, "init", UINT64_MAX);
	uint32_t main_ = add_stack(p, init, "main", UINT64_MAX);

	add_stack(p, main_, "MPI_Send", UINT64_MAX);
	add_stack(p, main_, "MPI_Recv", UINT64_MAX);
	sort_random_stacks(p);

	uint32_t send = find_stack(p, "MPI_Send<main<init");
	uint32_t recv = find_stack(p, "MPI_Recv<main<init");

	for (uint32_t i = 0; i < p->n_stacks; i++) {
		if (i != send && i != recv)
			continue;

		struct profile_messages *m = ADD_ELEMENT(p, messages);

		m->stack = i;
		if (i == send) {
			m->sends = 11;
			m->bytes_sent = 10000;
			m->send_ns = 22 * MS;
			m->send_bandwidth = 11000000;
		} else {
			m->receives = 5;
			m->bytes_received = 5000;
			m->receive_ns = 50 * MS;
			m->receive_bandwidth = 500000;
		}
	}
	function(VFTR_MPI_SEND, 1, 11, 40, 40, 0, 40, 0);
	p->functions[0].sends = 11;
	p->functions[0].bytes_sent = 10000;
	function(VFTR_MPI_RECV, 4, 5, 100, 10, 3, 40, 1);
	p->functions[1].receives = 5;
	p->functions[1].bytes_received = 5000;
	*ADD_ELEMENT(p, sizes) = (struct profile_size){0, 1, 0, 0, 0};
	*ADD_ELEMENT(p, sizes) = (struct profile_size){10, 10, 5, 10000, 5000};
	*ADD_ELEMENT(p, sizes) = (struct profile_size){12, 0, 30, 0, 90000};
	pair(0, 1, 10, 10000);
	pair(0, 3, 1, 0);
	pair(3, 3, 0, 0);
	p->pairs[2].receives = 1500;
	p->pairs[2].bytes_received = 5u << 20;
	*ADD_ELEMENT(p, comms) = (struct profile_comm){.id = 1,
		.size = 4,
		.ranks = 4,
		.sends = 11,
		.receives = 5,
		.bytes_sent = 10000,
		.bytes_received = 5000};
	*ADD_ELEMENT(p, comms) = (struct profile_comm){.id = 0xabc,
		.kind = WIRE_COMM_SPLIT,
		.size = 2,
		.ranks = 2,
		.collectives = 6,
		.collective_bytes_sent = 48,
		.collective_bytes_received = 96,
		.collective_ns = 7 * MS};
	*ADD_ELEMENT(p, comms) = (struct profile_comm){.id = 0xdef,
		.name = xstrdup("to the\nother side"),
		.kind = WIRE_COMM_INTER,
		.size = 3,
		.remote_size = 1,
		.ranks = 4,
		.sends = 1};
	*ADD_ELEMENT(p, comms) =
		(struct profile_comm){.id = 0xfff, .kind = WIRE_COMM_DUP, .size = 4, .ranks = 4};
	*ADD_ELEMENT(p, files) = (struct profile_file){.name = xstrdup("/data/out"),
		.ranks = 4,
		.opens = 4,
		.writes = 8,
		.bytes_written = 4000000,
		.write_ns = 2000 * MS};
	place(0, 2, "n1");
	place(2, 2, "n2");
	ck_assert_ptr_null(profile_valid(p));
}

static void forget_pairs(void)
{
	free(p->pairs);
	for (size_t i = 0; i < p->n_rank_ranges; i++)
		free(p->rank_ranges[i].host);
	free(p->rank_ranges);
	p->pairs = NULL;
	p->rank_ranges = NULL;
	p->n_pairs = p->n_rank_ranges = 0;
}

static void cells_are(const char *line, const char *const *want, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		cell_is(line, i, want[i]);
}

#define ROW_IS(log, title, i, ...)                                                                 \
	do {                                                                                       \
		static const char *const want[] = {__VA_ARGS__};                                   \
                                                                                                   \
		cells_are(row(log, title, i), want, ARRAY_SIZE(want));                             \
	} while (0)

static void sort_by(const char *column, bool ascending)
{
	free(conf->mpi_sort_table_column);
	conf->mpi_sort_table_column = xstrdup(column);
	conf->mpi_sort_table_ascending = ascending;
}

START_TEST(communication_profile)
{
	const char *title = "Communication profile";
	char *id = xasprintf("%u", find_stack(p, "MPI_Send<main<init"));

	sort_by("messages", false);
	char *log = summary();

	in_order(log, (const char *const[]){"\nCommunication profile\n", "| Messages |",
			      " avg send size[B] |", " avg recv size[B] |", " avg send BW[B/s] |",
			      " avg recv BW[B/s] |", " avg comm time[s] |", " Function |",
			      " Caller |", " STID |\n", NULL});
	has_not(log, "Callpath");
	ROW_IS(log, title, 0, "11", "9.091e+02", "0.000e+00", "1.000e+06", "0.000e+00", "2.000e-03",
		"MPI_Send", "main");
	cell_is(row(log, title, 0), 8, id);
	ROW_IS(log, title, 1, "5", "0.000e+00", "1.000e+03", "0.000e+00", "1.000e+05", "1.000e-02",
		"MPI_Recv", "main");
	ck_assert_int_eq(row(log, title, 2)[0], '+');
	free(log);

	conf->mpi_show_callpath = true;
	free(conf->mpi_only_for_ranks);
	conf->mpi_only_for_ranks = xstrdup("0-3");
	log = summary();
	cell_is(row(log, "Communication profile for ranks: 0-3", 0), 9, "MPI_Send<main<init");
	free(log);
	free(id);
}
END_TEST

START_TEST(sorted_as_configured)
{
	static const struct {
		const char *column;
		bool ascending;
		const char *first;
	} cases[] = {
		{"messages", true, "MPI_Recv"},
		{"send_size", false, "MPI_Send"},
		{"recv_size", false, "MPI_Recv"},
		{"send_bw", true, "MPI_Recv"},
		{"recv_bw", true, "MPI_Send"},
		{"comm_time", false, "MPI_Recv"},
	};
	bool send_first = p->messages[0].sends > 0;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sort_by(cases[i].column, cases[i].ascending);
		char *log = summary();

		cell_is(row(log, "Communication profile", 0), 6, cases[i].first);
		free(log);
	}
	for (int i = 0; i < 3; i++) {
		sort_by(i ? "stack_id" : "none", i == 1);
		char *log = summary();

		/* none is always by id, stack_id as asked for */
		cell_is(row(log, "Communication profile", i == 2), 6,
			send_first ? "MPI_Send" : "MPI_Recv");
		free(log);
	}
}
END_TEST

START_TEST(functions)
{
	char *log = summary();

	/* the mean is over all four ranks, also where only one has called */
	ROW_IS(log, "MPI functions", 0, "MPI_Recv", "5", "0.100000", "0.010000", "3", "0.040000",
		"1", "0.025000", "60.00", "0", "5", "0", "5000");
	ROW_IS(log, "MPI functions", 1, "MPI_Send", "11", "0.040000", "0.040000", "0", "0.040000",
		"0", "0.010000", "300.00", "11", "0", "10000", "0");
	free(log);

	p->functions[1].id = 1000000;
	p->functions[1].ranks = 0;
	p->functions[1].ns = 0;
	log = summary();
	cell_is(row(log, "MPI functions", 1), 0, "unknown MPI function");
	cell_is(row(log, "MPI functions", 1), 8, "0.00");
	free(log);
}
END_TEST

START_TEST(sizes)
{
	char *log = summary();

	ROW_IS(log, "Message sizes", 0, "0 B", "1 B", "1", "0", "0", "0", "#");
	ROW_IS(log, "Message sizes", 1, "512 B", "1 KiB", "10", "5", "10000", "5000",
		"####################");
	ROW_IS(log, "Message sizes", 2, "1 KiB", "2 KiB", "0", "0", "0", "0", "");
	ROW_IS(log, "Message sizes", 3, "2 KiB", "4 KiB", "0", "30", "0", "90000",
		"########################################");
	free(log);
}
END_TEST

START_TEST(matrix_of_ranks)
{
	char *log = summary();

	ROW_IS(log, "Messages from rank (row) to rank (column)", 0, "0", ".", "10", ".", "1");
	ROW_IS(log, "Messages from rank (row) to rank (column)", 3, "3", ".", ".", ".", "1.50k");
	ROW_IS(log, "Bytes from rank (row) to rank (column)", 0, "0", ".", "9.77K", ".", ".");
	ROW_IS(log, "Bytes from rank (row) to rank (column)", 3, "3", ".", ".", ".", "5.00M");
	has(log, "| Rank | 0 |");
	has_not(log, "stands for");
	free(log);

	/* another job, and a process without a rank */
	p->unranked = 1;
	p->ranks++;
	pair(3, PROFILE_UNRANKED, 2, 2);
	pair(3, PROFILE_ELSEWHERE, 7, 7);
	ck_assert_ptr_null(profile_valid(p));
	log = summary();
	ROW_IS(log, "Messages from rank (row) to rank (column)", 3, "3", ".", ".", ".", "1.50k",
		"2", "7");
	cell_is(row(log, "Messages from rank (row) to rank (column)", 4), 0, "4");
	cell_is(row(log, "Messages from rank (row) to rank (column)", 5), 0, "another job");
	free(log);
}
END_TEST

/* A ring of ranks, eight on each node. */
static void ring(uint32_t nodes)
{
	forget_pairs();
	ranks(8 * nodes);
	for (uint32_t i = 0; i < nodes; i++) {
		char *host = xasprintf("node%03u", i);

		place(8 * i, 8, host);
		free(host);
	}
	for (uint32_t i = 0; i < p->world_size; i++) {
		uint32_t next = (i + 1) % p->world_size;

		pair(i, next, 1, 1024);
	}
	ck_assert_ptr_null(profile_valid(p));
}

START_TEST(matrix_of_nodes)
{
	ring(5);
	char *log = summary();

	has_not(log, "from rank");
	has_not(log, "stands for");
	ROW_IS(log, "Messages from node (row) to node (column)", 0, "0", "node000", "8", "7", "1",
		".", ".", ".");
	ROW_IS(log, "Bytes from node (row) to node (column)", 4, "4", "node004", "8", "1.00K", ".",
		".", ".", "7.00K");
	free(log);

	/* a node of which nothing is known */
	free(p->rank_ranges[--p->n_rank_ranges].host);
	log = summary();
	ROW_IS(log, "Messages from node (row) to node (column)", 4, "4", "unknown node", "", "1",
		".", ".", ".", "7");
	free(log);
}
END_TEST

/* Rank i is on node i mod 5, so that all that a node sends goes to the next one. */
START_TEST(matrix_of_nodes_that_ranks_go_round)
{
	cJSON *all;
	char *log;

	ring(5);
	for (uint32_t i = 0; i < 5; i++) {
		p->rank_ranges[i].first = i;
		p->rank_ranges[i].last = 35 + i;
		p->rank_ranges[i].step = 5;
	}
	ck_assert_ptr_null(profile_valid(p));
	log = summary();
	ROW_IS(log, "Messages from node (row) to node (column)", 0, "0", "node000", "8", ".", "8",
		".", ".", ".");
	ROW_IS(log, "Bytes from node (row) to node (column)", 4, "4", "node004", "8", "8.00K", ".",
		".", ".", ".");
	free(log);
	all = parsed();
	ck_assert_int_eq(
		number(cJSON_GetArrayItem(cJSON_GetObjectItem(all, "places"), 1), "step"), 5);
	cJSON_Delete(all);
}
END_TEST

START_TEST(matrix_of_groups)
{
	ring(70);
	char *log = summary();

	ROW_IS(log, "Messages from node (row) to node (column)", 0, "0", "node000 - node002", "24",
		"23", "1");
	ROW_IS(log, "Messages from node (row) to node (column)", 23, "23", "node069", "8", "1");
	has(log, "A row or column stands for 3 nodes, the last one for the rest.\n");
	free(log);

	/* many ranks on one node, and ranks of which no node is known */
	for (int i = 0; i < 2; i++) {
		ring(5);
		for (size_t k = 1; k < p->n_rank_ranges; k++)
			free(p->rank_ranges[k].host);
		p->n_rank_ranges = 1;
		p->rank_ranges[0].last = 39;
		if (i) {
			free(p->rank_ranges[0].host);
			p->n_rank_ranges = 0;
		}
		log = summary();
		ROW_IS(log, "Messages from ranks (row) to ranks (column)", 1, "1", "2 - 3", ".",
			"1", "1", ".");
		has(log, "A row or column stands for 2 ranks");
		free(log);
	}
}
END_TEST

START_TEST(interleaved_ranks)
{
	forget_pairs();
	ranks(40);
	for (uint32_t i = 0; i < 40; i++)
		place(i, 1, i % 2 ? "alpha" : "beta");
	for (uint32_t i = 0; i + 1 < 40; i++)
		pair(i, i + 1, 1, 1);
	char *log = summary();

	ROW_IS(log, "Messages from node (row) to node (column)", 0, "0", "beta", "20", ".", "20");
	ROW_IS(log, "Messages from node (row) to node (column)", 1, "1", "alpha", "20", "19", ".");
	free(log);
}
END_TEST

START_TEST(communicators)
{
	char *log = summary();

	ROW_IS(log, "Communicators", 0, "(split)", "0000000000000abc", "2", "2", "0", "0", "0", "0",
		"6", "48", "96", "0.007000");
	ROW_IS(log, "Communicators", 1, "MPI_COMM_WORLD", "0000000000000001", "4", "4", "11", "5",
		"10000", "5000", "0");
	ROW_IS(log, "Communicators", 2, "to the?other side", "0000000000000def", "3 + 1", "4");
	ck_assert_int_eq(row(log, "Communicators", 3)[0], '+'); /* unused ones have no line */
	free(log);

	/* one line for all of MPI_COMM_SELF */
	for (uint64_t i = 0; i < 60; i++)
		*ADD_ELEMENT(p, comms) =
			(struct profile_comm){.id = 0x1000 + i, .size = 1, .ranks = 1, .sends = 2};
	log = summary();
	ROW_IS(log, "Communicators", 3, "MPI_COMM_SELF", "----", "1", "60", "120", "0");
	has_not(log, "communicators more");
	free(log);

	for (uint64_t i = 0; i < 60; i++)
		*ADD_ELEMENT(p, comms) = (struct profile_comm){
			.id = 0x2000 + i, .kind = 99, .size = 1, .ranks = 1, .sends = 1};
	log = summary();
	has(log, "... and 13 communicators more; the JSON file has all of them.\n");
	free(log);
}
END_TEST

START_TEST(files)
{
	char *log = summary();

	ROW_IS(log, "Files opened through MPI", 0, "/data/out", "4", "4", "0", "0", "0.000000",
		"0.000e+00", "8", "4000000", "2.000000", "2.000e+06");
	free(log);
}
END_TEST

START_TEST(losses)
{
	struct profile_process who = {.rank = 3};
	char *error, *log = summary();

	has_not(log, "records of communication");
	free(log);
	p->lost_messages = 12;
	p->open_requests = 3;
	log = summary();
	has(log, "12 records of communication were not stored, as rings were full or a signal "
		 "handler had interrupted the library;");
	has(log, "\n3 requests were posted and never seen to complete: "
		 "3 of which it is not known where they were posted.\n");
	has_not(log, "by what has posted them");
	has_not(log, "ambiguous");
	free(log);
	p->ambiguous_receives = 9;
	log = summary();
	has(log, "0 sends and 9 receives are ambiguous.");
	free(log);
	ck_assert_int_eq(output_node(p, conf, dir, "app", "n1", NULL, NULL, 0, &error), 0);
	log = slurp("app_node_n1.log");
	has(log, "   Lost messages:           12\n   Open requests:            3\n");
	free(log);
	ck_assert_int_eq(output_rank(p, &who, 4, conf, dir, "app", NULL, 0, &error), 0);
	log = slurp("app_3.log");
	has(log, "12 records of communication were not stored");
	free(log);
	p->lost_messages = p->open_requests = p->ambiguous_sends = p->ambiguous_receives = 1;
	p->matching.unmatched_sends[0] = p->matching.unmatched_receives[0] = 1;
	log = summary();
	has(log, "\n1 record of communication was not stored, as rings were full or a signal "
		 "handler had interrupted the library; the tables of messages lack it.\n");
	has(log, "\n1 request was posted and never seen to complete: "
		 "1 of which it is not known where it was posted.\n");
	has(log, "1 send and 1 receive are ambiguous.\n");
	has(log, "\n1 send has no known receiver");
	has(log, "\n1 receive has no known sender");
	free(log);
	p->matching.unmatched_receives[MATCH_NOT_RECEIVED] = 0;
	p->matching.unmatched_receives[MATCH_NOT_COMPLETED] = 6;
	log = summary();
	has(log, "\n6 receives have no known sender, as they never completed.\n");
	free(log);
	p->matching.unmatched_receives[MATCH_NO_SEND] = 2;
	log = summary();
	has(log, "\n8 receives have no known sender: 6 as they never completed, 2 as no send is "
		 "known.\n");
	free(log);
}
END_TEST

START_TEST(rank_log)
{
	struct profile_process who = {.rank = 3};
	char *error;

	pair(3, PROFILE_FAR, 1, 30);
	pair(3, PROFILE_ELSEWHERE, 2, 20);
	ck_assert_int_eq(output_rank(p, &who, 4, conf, dir, "app", NULL, 0, &error), 0);
	char *log = slurp("app_3.log");

	has_not(log, "(row)");
	has_not(log, "t_avg");
	has(log, "\nCommunication profile\n");
	has(log, "\nMessage sizes\n");
	has(log, "\nCommunicators\n");
	ROW_IS(log, "MPI functions", 0, "MPI_Recv", "5", "0.100000", "0", "5", "0", "5000");
	ROW_IS(log, "Messages by peer", 0, "0", "0", "1", "0", "0");
	ROW_IS(log, "Messages by peer", 1, "3", "0", "1500", "0", "5242880");
	ROW_IS(log, "Messages by peer", 2, "another node", "1", "0", "30", "0");
	ROW_IS(log, "Messages by peer", 3, "another job", "2", "0", "20", "0");
	free(log);
}
END_TEST

START_TEST(many_peers)
{
	struct profile_process who = {.rank = 0};
	char *error;

	forget_pairs();
	ranks(300);
	for (uint32_t i = 0; i < 300; i++)
		pair(0, i, 1, i % 3 ? 1 : 100);
	ck_assert_int_eq(output_rank(p, &who, 300, conf, dir, "app", NULL, 0, &error), 0);
	char *log = slurp("app_000.log");

	ROW_IS(log, "Messages by peer", 1, "3", "1", "0", "100", "0");
	ROW_IS(log, "Messages by peer", 99, "297");
	has(log, "... and 200 peers more, with fewer bytes.\n");
	free(log);
}
END_TEST

static const cJSON *element(const cJSON *json, const char *array, int i)
{
	const cJSON *at = cJSON_GetArrayItem(cJSON_GetObjectItem(json, array), i);

	ck_assert_msg(at != NULL, "no element %d in %s", i, array);
	return at;
}

/* requests of a kind at a stack; at the second one of 2 ranks */
static void left_open(uint32_t stack, uint32_t kind, uint64_t requests)
{
	struct profile_open o = {stack, kind, 1 + stack % 2, 1, 1 + stack % 2, requests};

	*ADD_ELEMENT(p, open) = o;
}

START_TEST(open_requests)
{
	uint32_t send = find_stack(p, "MPI_Send<main<init");
	uint32_t receive = find_stack(p, "MPI_Recv<main<init");
	char *log, *error;
	cJSON *all;

	p->open_requests = 9;
	if (send < receive)
		left_open(send, PROFILE_OPEN_SEND, 1);
	left_open(receive, PROFILE_OPEN_RECEIVE, 4);
	left_open(receive, PROFILE_OPEN_OTHER, 2);
	if (send > receive)
		left_open(send, PROFILE_OPEN_SEND, 1);
	log = summary();
	has(log, "\n9 requests were posted and never seen to complete: 1 send (counted as sent, "
		 "but not the time taken), 4 receives (not counted as received), 2 others (of "
		 "which only what was sent is counted), 2 of which it is not known where they "
		 "were posted.\n");
	has(log, "\nRequests that were never seen to complete, by what has posted them\n");
	has(log, "|        4 | receive |");
	has(log, " MPI_Recv<main<init |");
	has_not(log, "open_request_paths");
	free(log);
	all = parsed();
	ck_assert_int_eq(number(all, "open_requests"), 9);
	ck_assert_int_eq(number(element(all, "open_request_paths", 0), "requests"), 4);
	ck_assert_int_eq(number(element(all, "open_request_paths", 0), "id"), receive);
	ck_assert_str_eq(string(element(all, "open_request_paths", 0), "kind"), "receive");
	ck_assert_str_eq(string(element(all, "open_request_paths", 1), "kind"), "other");
	ck_assert_str_eq(
		string(element(all, "open_request_paths", 2), "path"), "MPI_Send<main<init");
	ck_assert_int_eq(number(element(all, "open_request_paths", 2), "rank_min"), 1);
	cJSON_Delete(all);
	ck_assert_int_eq(output_node(p, conf, dir, "app", "n1", NULL, NULL, 0, &error), 0);
	log = slurp("app_node_n1.log");
	has(log, "|        4 | receive |");
	free(log);
}
END_TEST

/* At most 10 rows, and what the rest is. */
START_TEST(many_open_requests)
{
	char *log;

	p->n_open = 0;
	for (uint32_t i = 0; i < p->n_stacks && p->n_open < 12; i++)
		for (uint32_t kind = 0; kind < PROFILE_OPEN_KINDS && p->n_open < 12; kind++)
			left_open(i, kind, 1 + p->n_open);
	ck_assert_uint_eq(p->n_open, 12);
	p->open_requests = 12 * 13 / 2;
	log = summary();
	has(log, "\n78 requests were posted");
	has(log, "\n... and 2 rows more, see open_request_paths in BASE_all.json.\n");
	has(log, "\n|       12 |");
	has(log, "\n|        3 |");
	has_not(log, "\n|        2 |");
	free(log);
}
END_TEST

START_TEST(json)
{
	bool send_first = p->messages[0].sends > 0;

	pair(3, PROFILE_ELSEWHERE, 2, 20);
	p->lost_messages = 12;
	p->open_requests = 3;
	free(summary());
	cJSON *all = parsed();
	const cJSON *at = element(all, "mpi", !send_first);

	ck_assert_int_eq(number(at, "id"), find_stack(p, "MPI_Send<main<init"));
	ck_assert_str_eq(string(at, "function"), "MPI_Send");
	ck_assert_str_eq(string(at, "caller"), "main");
	ck_assert_int_eq(number(at, "sends"), 11);
	ck_assert_int_eq(number(at, "bytes_sent"), 10000);
	ck_assert_double_eq_tol(number(at, "t_comm_s"), 0.022, 1e-12);
	ck_assert_double_eq_tol(number(at, "send_bandwidth"), 1e6, 1e-6);
	ck_assert_int_eq(number(at, "recv_bandwidth"), 0);
	at = element(all, "mpi_functions", 1);
	ck_assert_str_eq(string(at, "function"), "MPI_Recv");
	ck_assert_double_eq_tol(number(at, "t_avg_s"), 0.025, 1e-12);
	ck_assert_double_eq_tol(number(at, "imbalance_percent"), 60, 1e-9);
	ck_assert_int_eq(number(at, "rank_min"), 3);
	at = element(all, "message_sizes", 1);
	ck_assert_int_eq(number(at, "from_bytes"), 512);
	ck_assert_int_eq(number(at, "to_bytes"), 1023);
	at = element(all, "communication_matrix", 3);
	ck_assert_int_eq(number(at, "from"), 3);
	ck_assert(cJSON_IsNull(cJSON_GetObjectItem(at, "to")));
	ck_assert_int_eq(number(at, "bytes_sent"), 20);
	at = element(all, "communicators", 0);
	ck_assert_str_eq(string(at, "name"), "MPI_COMM_WORLD");
	ck_assert_str_eq(string(at, "kind"), "predefined");
	at = element(all, "communicators", 1);
	ck_assert_str_eq(string(at, "id"), "0000000000000abc");
	ck_assert(cJSON_IsNull(cJSON_GetObjectItem(at, "name")));
	ck_assert_int_eq(number(at, "collectives"), 6);
	ck_assert_str_eq(string(element(all, "files", 0), "name"), "/data/out");
	ck_assert_str_eq(string(element(all, "places", 1), "host"), "n2");
	ck_assert_int_eq(number(element(all, "places", 1), "last"), 3);
	ck_assert_ptr_null(cJSON_GetObjectItem(element(all, "places", 1), "step"));
	ck_assert_int_eq(number(all, "lost_messages"), 12);
	ck_assert_int_eq(number(all, "open_requests"), 3);
	ck_assert_int_eq(number(all, "ambiguous_sends"), 0);
	ck_assert_int_eq(number(all, "ambiguous_recvs"), 0);
	cJSON_Delete(all);
}
END_TEST

/* Why not all waits are known: n-th of these. */
static void reason_is(int n, const char *name)
{
	cJSON *all, *reasons;

	free(summary());
	all = parsed();
	reasons = cJSON_GetObjectItem(all, "waits_incomplete");
	ck_assert_int_gt(cJSON_GetArraySize(reasons), n);
	ck_assert_str_eq(cJSON_GetArrayItem(reasons, n)->valuestring, name);
	cJSON_Delete(all);
}

/* A record that came when it had been given up was not lost. */
START_TEST(late_records)
{
	*ADD_ELEMENT(p, waits) = (struct profile_wait){
		.stack = find_stack(p, "MPI_Recv<main<init"), .calls = 1, .ns = MS};
	p->matching.lost_receives = p->matching.late = 3;
	reason_is(0, "late_messages");
	p->matching.lost_sends = 1;
	reason_is(0, "lost_messages");
	reason_is(1, "late_messages");
}
END_TEST

START_TEST(one_rank)
{
	forget_pairs();
	ranks(1);
	pair(0, 0, 4, 4);
	char *log = summary();

	ROW_IS(log, "Messages from rank (row) to rank (column)", 0, "0", "4");
	has(log, " (predefined) |"); /* MPI_COMM_WORLD or MPI_COMM_SELF: both have one member */
	free(log);
}
END_TEST

START_TEST(huge_numbers)
{
	forget_pairs();
	p->messages[0].sends = p->messages[0].bytes_sent = UINT64_MAX;
	p->messages[0].send_bandwidth = (unsigned __int128)UINT64_MAX * 1000000000;
	p->messages[0].send_ns = p->messages[0].receive_ns = UINT64_MAX;
	p->functions[0].ns = p->functions[0].max_ns = p->functions[0].calls = UINT64_MAX;
	*ADD_ELEMENT(p, sizes) = (struct profile_size){64, UINT64_MAX, 0, UINT64_MAX, UINT64_MAX};
	pair(0, 1, UINT64_MAX, UINT64_MAX);
	pair(0, 2, 999499, 1023);
	pair(0, 3, 999500, (1u << 20) - 1);
	char *log = summary();

	has(log, "1.000e+09");
	ROW_IS(log, "Message sizes", 55, "8 EiB", "16 EiB", "18446744073709551615", "0");
	ROW_IS(log, "Messages from rank (row) to rank (column)", 0, "0", ".", "18.4E", "999k",
		"1.00M");
	ROW_IS(log, "Bytes from rank (row) to rank (column)", 0, "0", ".", "16.0E", "1023",
		"1.00M");
	free(log);
	cJSON_Delete(parsed());
}
END_TEST

static const char *const titles[] = {"Communication profile", "MPI functions", "Message sizes",
	"(row)", "by peer", "Communicators", "Files"};

START_TEST(no_tables_where_nothing_happened)
{
	struct profile_process who = {.rank = 0};
	char *error;

	profile_free(p);
	p = profile_new();
	ranks(2);
	ck_assert_int_eq(output_rank(p, &who, 2, conf, dir, "app", NULL, 0, &error), 0);
	char *log = summary(), *rank = slurp("app_0.log");
	cJSON *all = parsed();

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++) {
		has_not(log, titles[i]);
		has_not(rank, titles[i]);
	}
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(all, "mpi")), 0);
	ck_assert(cJSON_IsArray(cJSON_GetObjectItem(all, "communication_matrix")));
	cJSON_Delete(all);
	free(log);
	free(rank);
}
END_TEST

START_TEST(no_tables_where_none_are_wanted)
{
	conf->mpi_show_table = false;
	char *log = summary();
	cJSON *all = parsed();

	for (size_t i = 0; i < ARRAY_SIZE(titles); i++)
		has_not(log, titles[i]);
	ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(all, "mpi")), 2);
	cJSON_Delete(all);
	free(log);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {communication_profile, sorted_as_configured, functions, sizes,
		matrix_of_ranks, matrix_of_nodes, matrix_of_groups,
		matrix_of_nodes_that_ranks_go_round, interleaved_ranks, communicators, files,
		losses, open_requests, many_open_requests, rank_log, many_peers, json, late_records,
		one_rank, huge_numbers, no_tables_where_nothing_happened,
		no_tables_where_none_are_wanted};
	Suite *s = suite_create("output");
	TCase *c = tcase_create("mpi");

	tcase_add_checked_fixture(c, setup, teardown);
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
	return run_suite(s);
}
