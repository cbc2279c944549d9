/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages of a process on its socket, and the answers. */
#include "nodeagent/process/pids.h"
#include "nodeagent/process/process.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/sockios.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/process/host.h"
#include "nodeagent/process/counter/counters.h"
#include "nodeagent/symbols/demangle.h"
#include "nodeagent/symbols/elf.h"
#include "nodeagent/process/drain.h"
#include "nodeagent/process/forks.h"
#include "nodeagent/process/observer.h"
#include "nodeagent/replay/gpu/gpu.h"
#include "nodeagent/process/regions.h"
#include "nodeagent/process/names.h"
#include "nodeagent/process/procfs.h"
#include "nodeagent/process/threads.h"
#include "nodeagent/replay/comm/comm.h"
#include "nodeagent/replay/comm/neighbours.h"
#include "nodeagent/replay/files.h"
#include "nodeagent/replay/memory.h"
#include "nodeagent/replay/openmp/lock-uses.h"
#include "nodeagent/replay/user-counters.h"
#include "nodeagent/base/util.h"
#include "shm/annotation.h"
#include "shm/openacc.h"
#include "shm/session.h"

#define PACKET_BYTES	(sizeof(struct wire_module) + WIRE_TEXT_MAX)
#define PACKETS_AT_ONCE 4096		  /* or as many as can be read in ... */
#define TURN_NS		UINT64_C(5000000) /* then the others have their turn */
#define UNREAD_BYTES	16384 /* of answers, as the kernel counts: it asks, and does not listen */
#define TIMES_AT_ONCE	16    /* ... unless records wait for what they say */
#define STACK_FRAMES	4096
#define IN_ABORT	"MPI_Abort<"

union packet {
	struct wire_head head;
	struct wire_hello hello;
	struct wire_bye bye;
	struct wire_gpu gpu;
	struct wire_file_name file_name;
	struct wire_lock lock;
	struct wire_gpu_device gpu_device;
	struct wire_gpu_stream gpu_stream;
	struct wire_about about;
	struct wire_module module;
	struct wire_thread thread;
	struct wire_region region;
	struct wire_construct construct;
	struct wire_rank rank;
	struct wire_number number;
	struct wire_fork fork;
	struct wire_session session;
	struct wire_counter counter;
	struct wire_openacc openacc;
	struct wire_comm comm;
	struct wire_neighbours neighbours;
	struct wire_object object;
	struct wire_live live;
	char bytes[PACKET_BYTES + 1];
};

_Static_assert(sizeof(struct wire_comm) <= sizeof(struct wire_module), "the largest fixed part");

bool process_answer(struct process *p, struct wire_head *m, size_t fixed, const char *text, int fd)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	struct iovec part[2] = {{m, fixed}, {(void *)(uintptr_t)text, 0}};
	struct msghdr h = {.msg_iov = part, .msg_iovlen = 1};

	m->text_bytes = 0;
	m->ticks = host_ticks(p->host);
	if (text) {
		part[1].iov_len = m->text_bytes = (uint32_t)strlen(text) + 1;
		h.msg_iovlen = 2;
	}
	if (fd >= 0) {
		struct cmsghdr *c = &control.align;

		h.msg_control = &control;
		h.msg_controllen = sizeof(control);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	}
	/* the process waits for it: a full socket would be its own doing */
	return sendmsg(p->socket, &h, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
}

static void refuse(struct process *p, const char *fmt, ...)
{
	struct wire_head m = {.kind = WIRE_REFUSED};
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	p->turned_away = true;
	process_answer(p, &m, sizeof(m), text, -1);
	host_warn(p->host, false, "process %d was refused: %s", p->pid, text);
	shutdown(p->socket, SHUT_RDWR);
}

/* The first process is told, and says it; the others are switched off without a word. */
static void refuse_version(struct process *p, uint32_t version)
{
	struct wire_welcome off = {
		.head = {.kind = WIRE_WELCOME}, .version = WIRE_VERSION, .off = 1};

	if (p->host->refused_version != version) {
		p->host->refused_version = version;
		refuse(p,
			"the library has version %u of the protocol, and the agent (" VFTR_VERSION
			") version %u; use both of one installation of vftr",
			version, WIRE_VERSION);
		return;
	}
	host_warn(p->host, false,
		"more processes were refused: their library has version %u of the protocol",
		version);
	p->turned_away = true;
	process_answer(p, &off.head, sizeof(off), NULL, -1);
	shutdown(p->socket, SHUT_RDWR);
}

/* A kind of packet: bytes of its fixed part, and who takes it; says why it makes no sense, or NULL.
 */
struct packet_kind {
	size_t fixed;
	const char *(*take)(struct process *p, const union packet *m);
};

static const struct packet_kind packet_kinds[WIRE_KINDS];

/* The text or data behind the fixed part of a message. */
static const char *behind(const union packet *m)
{
	return m->bytes + packet_kinds[m->head.kind].fixed;
}

/* The k-th string behind the fixed part; "" if there is none. */
static const char *text_of(const union packet *m, int k)
{
	const char *s = behind(m), *end = s + m->head.text_bytes;

	for (; k && s < end; k--)
		s += strlen(s) + 1; /* the packet ends in a NUL of ours */
	return s < end ? s : "";
}

static bool somebody_reads_energy(const struct host *host)
{
	for (const struct process *p = host->live; p; p = p->next_live)
		if (p->control && !p->ended && counters_read_energy(control_counters(p->control)))
			return true;
	return false;
}

static uint32_t call_sites(const char *wanted)
{
	return !strcmp(wanted, "on")	? WIRE_CALL_SITES_ON
	       : !strcmp(wanted, "off") ? WIRE_CALL_SITES_OFF
					: WIRE_CALL_SITES_AUTO;
}

static uint32_t messages_wanted(const struct conf *c)
{
	if (!c->mpi_log_messages)
		return WIRE_MESSAGES_NONE;
	return c->sampling_active || strcmp(c->mpi_only_for_ranks, "all") != 0 ? WIRE_MESSAGES_EACH
									       : WIRE_MESSAGES_SUMS;
}

static uint32_t successor(const char *when)
{
	return !strcmp(when, "always")	? WIRE_SUCCESSOR_ALWAYS
	       : !strcmp(when, "never") ? WIRE_SUCCESSOR_NEVER
					: WIRE_SUCCESSOR_OF_DEAD;
}

static uint32_t annotation_bits(const char *wanted)
{
	static const char *const words[] = {
#define WORD(word, way, what) [ANNOTATION_##word] = #word,
		ANNOTATIONS(WORD)
#undef WORD
	};
	uint32_t bits = 0;

	for (uint32_t i = 0; i < ANNOTATION_KINDS; i++)
		bits |= (uint32_t)conf_has_word(wanted, words[i]) << i;
	return bits;
}

static void welcome(struct process *p, struct wire_welcome *w)
{
	const char *include = p->host->conf->python_include,
		   *exclude = p->host->conf->python_exclude;
	struct wire_samples samples = {.head = {.kind = WIRE_SAMPLES},
		.ring_size = p->samples.bytes,
		.period_ns = p->samples.period_ns};
	char *text = xasprintf("%s%s", include ? include : "", exclude ? exclude : "");

	w->python = p->host->conf->python_functions;
	w->python_include = include ? (uint32_t)strlen(include) : 0;
	w->samples = p->samples.bytes != 0;
	process_answer(p, &w->head, sizeof(*w), text, p->stored_control.fd);
	free(text);
	if (w->samples)
		process_answer(p, &samples.head, sizeof(samples), NULL, p->samples.fd);
}

static void note_origin(struct process *p, const union packet *m)
{
	p->parent_pid = m->hello.ppid;
	p->parent_traced = m->hello.parent_traced;
	p->parent_fork = m->hello.parent_fork;
	p->rank_hint = m->hello.rank_hint;
	p->size_hint = m->hello.size_hint;
	p->uninstrumented =
		m->hello.uninstrumented && !(m->hello.sleds && p->host->conf->profile_xray);
	p->executable = xstrdup(text_of(m, 0));
	procfs_cut_deleted(p->executable);
	if (p->host->symbols) /* now, while the program waits for the answer */
		symcache_see(p->host->symbols, p->executable);
	p->invoked_as = xstrdup(text_of(m, 1));
	p->directory = xstrdup(text_of(m, 2));
}

static struct wire_welcome welcome_of(const struct host *host)
{
	return (struct wire_welcome){.head = {.kind = WIRE_WELCOME},
		.version = WIRE_VERSION,
		.clock_source = host->clocks.source,
		.ring_size = host->conf->shm_ring_size,
		.drop_when_full = !strcmp(host->conf->shm_when_full, "drop"),
		.off = host->conf->off,
		.messages = messages_wanted(host->conf),
		.gpu = host->conf->cuda_show_table || host->conf->sampling_active,
		.openacc = host->conf->openacc_active,
		.files = host->conf->files_active,
		.memory_mean = host->conf->memory_active ? host->conf->memory_sample_bytes : 0,
		.memory_large = host->conf->memory_large,
		.locks = host->conf->locks_active,
		.sleds = host->conf->profile_xray,
		.block_most_ms = (uint32_t)(1e3 * host->conf->shm_block_most_s),
		.publish_forks = host->conf->sampling_active,
		.last_words_ms = host->last_words_ms,
		.call_sites = call_sites(host->conf->mpi_call_sites),
		.successor = successor(host->conf->agent_successor),
		.annotations = annotation_bits(host->conf->annotations)};
}

/* A process that closed our socket and then became this one: it has the same pid. */
static void end_earlier_program(const struct process *p)
{
	struct process *next;

	for (struct process *q = p->pid > 0 ? pids_newest(p->host, p->pid) : NULL; q; q = next) {
		next = q->namesake;
		if (q == p || q->ended || q->socket >= 0 || q->outside)
			continue;
		q->end_ticks = MIN(p->connected_ticks, host_ticks(p->host));
		process_finish(q, PROCESS_EXECED);
	}
}

/* Longer than a process waits for an agent. */
#define RECORDED_MOST_NS 7200000000000

/* What its rings hold of the time before is the beginning of what we know. */
static void note_recorded(struct process *p)
{
	struct host *host = p->host;
	const uint64_t now = host_ticks(host);

	if (clocks_ns(&host->clocks, now - p->start_ticks) > RECORDED_MOST_NS)
		p->start_ticks = now;
	p->connected_ticks = MIN(p->connected_ticks, p->start_ticks);
	host->n_taken_over++;
	if (host->n_taken_over == 1)
		host_warn(host, false,
			"process %d, maybe more, had another agent before, which is gone: what "
			"that has read is not here, and functions that were open then are "
			"`(callers not known)'",
			p->pid);
}

static const char *on_hello(struct process *p, const union packet *m)
{
	struct host *host = p->host;
	struct wire_welcome w = welcome_of(host);
	int error;

	if (m->hello.version != WIRE_VERSION) {
		host->children_seen--; /* nobody announces forks of such a process */
		refuse_version(p, m->hello.version);
		return NULL;
	}
	if (!m->hello.parent_fork) /* nobody has announced it */
		host->children_seen--;
	error = ring_store_take_control(host->rings, &p->stored_control);
	if (error) {
		refuse(p, "there is no memory to share with it: %s", strerror(-error));
		return NULL;
	}
	p->control = p->stored_control.agent;
	p->control_app = p->stored_control.app;
	p->control->clock_source = host->clocks.source;
	counters_ask(host->counters, control_counters(p->control), !somebody_reads_energy(host));
	p->memory = w.memory_mean ? memory_new(w.memory_large, w.memory_mean) : NULL;
	p->lock_uses = w.locks ? lock_uses_new() : NULL;
	end_earlier_program(p);
	note_origin(p, m);
	p->start_ticks = host->clocks.source == CLOCK_SOURCE_RAW ? m->hello.raw_ns : m->head.ticks;
	p->start_ticks = MIN(p->start_ticks, host_ticks(host));
	if (m->hello.was_recorded)
		note_recorded(p);
	p->files = w.files ? files_new(host->conf->files_exclude, p->start_ticks) : NULL;
	if (!host->n_ever || p->connected_ticks < host->first_start_ticks)
		host->first_start_ticks = p->connected_ticks;
	p->start_s = time(NULL);
	p->greeted = !host->conf->off;
	p->turned_away = !p->greeted;
	if (p->greeted)
		process_enlist(p);
	host->n_ever += p->greeted;
	host->n_live += p->greeted;
	observers_tell(host, begin, p);
	process_members_changed(host);
	welcome(p, &w);
	ring_store_sent_control(host->rings, &p->stored_control);
	return NULL;
}

/* A sentence of the library for the user. */
static const char *on_note(struct process *p, const union packet *m)
{
	const char *text = text_of(m, 0);
	char line[256];
	size_t n = 0;

	for (; text[n] && n + 1 < sizeof(line); n++)
		line[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	line[n] = '\0';
	host_warn(p->host, false, "%s", line);
	return NULL;
}

/* The open frames of a thread; it has published them and waits. */
static const char *on_stack(struct process *p, const union packet *m)
{
	static uint64_t keys[STACK_FRAMES];
	const struct name_style style = name_style_of(p->host->conf);
	struct wire_head reply = {.kind = WIRE_STACK};
	char text[WIRE_TEXT_MAX];
	const uint64_t index = m->number.number;
	size_t n = 0, used = 0;

	if (index < p->n_threads && p->threads[index]) {
		drain_thread(p->threads[index]);
		n = replay_stack(p->threads[index]->replay, false, keys, STACK_FRAMES);
	}
	for (size_t i = 0; i < n; i++) {
		char *name = name_shown(symcache_name(p->host->symbols, p, keys[i]), &style);
		size_t bytes = strlen(name);
		bool fits = used + bytes + sizeof("<init") < sizeof(text);

		if (fits) {
			memcpy(text + used, name, bytes);
			used += bytes;
			text[used++] = '<';
		}
		free(name);
		if (!fits)
			break;
	}
	strcpy(text + used, "init");
	if (!strncmp(text, IN_ABORT, strlen(IN_ABORT)))
		observers_tell(p->host, abort, p);
	if (!p->aborts) /* else when the results are written */
		process_answer(p, &reply, sizeof(reply), text, -1);
	return NULL;
}

/* True if the process is gone, and cannot read an answer. */
static bool is_gone(const struct process *p)
{
	struct pollfd f = {p->socket, 0, 0};

	return poll(&f, 1, 0) == 1 && (f.revents & (POLLHUP | POLLERR));
}

/* Two at most are on their way when a process asks again: WELCOME, and its first RING. */
static bool reads_answers(const struct process *p)
{
	int unread;

	return ioctl(p->socket, SIOCOUTQ, &unread) || unread <= UNREAD_BYTES;
}

static bool has_id_of(const char *path, const struct wire_module *m)
{
	struct elf_file *file;
	bool has;

	if (!m->build_id_bytes || elf_open(path, &file, NULL))
		return false;
	has = elf_has_build_id(file, m->build_id, m->build_id_bytes);
	elf_close(file);
	return has;
}

/*
 * The loader has the name that the program gave: it may be relative to a folder that is not ours,
 * and that the program has left since, and be a symbolic link. The file may be closed by now, and
 * another one there.
 */
static char *whole_path(const struct process *p, const struct wire_module *m, const char *path)
{
	char *mapped = *path == '/' || !*path ? NULL : procfs_mapped_file(p->pid, m->low);

	if (mapped && (!strcmp(basename(mapped), basename(path)) || has_id_of(mapped, m)))
		return mapped;
	free(mapped);
	if (*path == '/' || !*path || !p->directory || !*p->directory)
		return xstrdup(path);
	return xasprintf("%s/%s", p->directory, path);
}

static void add_module(struct process *p, const struct wire_module *m, const char *path)
{
	char *whole;

	if (m->build_id_bytes > sizeof(m->build_id))
		return;
	whole = whole_path(p, m, path);
	process_maps(p, m, whole);
	free(whole);
}

/* A kind of packet that always makes sense: who takes packet m of process p. */
#define TAKES(name, take)                                                                          \
	static const char *name(struct process *p, const union packet *m)                          \
	{                                                                                          \
		take;                                                                              \
		return NULL;                                                                       \
	}

TAKES(on_module, add_module(p, &m->module, text_of(m, 0)))
TAKES(on_module_gone, codemap_gone(p->code, m->number.number, m->head.ticks))

/* A thread wants a ring, which is not made for a process that is gone. */
static const char *on_thread(struct process *p, const union packet *m)
{
	if (is_gone(p))
		return NULL;
	if (!reads_answers(p))
		return "it asks for memory for threads and does not read the answers";
	threads_begin(p, &m->thread, text_of(m, 0));
	return NULL;
}

TAKES(on_thread_end, threads_end(p, m->number.number, m->head.ticks, text_of(m, 0)))
TAKES(on_thread_name, threads_name(p, m->number.number, text_of(m, 0)))
TAKES(on_region, regions_define(p, m->region.number, text_of(m, 0)))
TAKES(on_construct, regions_construct(p, &m->construct, text_of(m, 0)))

/* "MPICH Version:\t4.0.2\nMPICH Release ..." and "Open MPI v4.1.4, package ...": what stands first,
 * with one blank between words. */
static void note_library(struct host *host, const char *text)
{
	char name[WIRE_LIBRARY];
	size_t n = 0;

	if (host->mpi_library)
		return;
	for (; *text && *text != ',' && *text != '\n' && n + 1 < sizeof(name); text++)
		if (*text > ' ')
			name[n++] = *text;
		else if (n && name[n - 1] != ' ')
			name[n++] = ' ';
	while (n && name[n - 1] == ' ')
		n--;
	if (n)
		host->mpi_library = xasprintf("%.*s", (int)n, name);
}

static const char *on_rank(struct process *p, const union packet *m)
{
	note_library(p->host, text_of(m, 0));
	process_set_rank(p, &m->rank);
	return NULL;
}

TAKES(on_fork, forks_add(p, &m->fork))
TAKES(on_session, observers_tell(p->host, session_request, p, &m->session, behind(m)))

static const char *on_comm(struct process *p, const union packet *m)
{
	const char *why;

	if (m->comm.kind == WIRE_COMM_SPAWN && !m->comm.runs_before)
		process_has_spawned(p);
	why = traffic_define_comm(p->traffic, &m->comm, m->head.text_bytes);
	if (!why && m->comm.kind == WIRE_COMM_SPAWN)
		traffic_comm_spawned(p->traffic, m->comm.number, host_ticks(p->host));
	return why;
}

static const char *on_neighbours(struct process *p, const union packet *m)
{
	return traffic_define_neighbours(p->traffic, &m->neighbours, m->head.text_bytes);
}

static const char *on_object(struct process *p, const union packet *m)
{
	return traffic_define_object(
		p->traffic, (enum wire_kind)m->head.kind, &m->object, text_of(m, 0));
}

static const char *on_name(struct process *p, const union packet *m)
{
	return traffic_name(p->traffic, &m->about, text_of(m, 0));
}

static const char *on_gone(struct process *p, const union packet *m)
{
	return traffic_gone(p->traffic, &m->about);
}

static const char *on_gpu(struct process *p, const union packet *m)
{
	return gpu_packet(p->gpu, p->start_ticks, &m->gpu, behind(m))
		       ? NULL
		       : "activities of a GPU that make no sense";
}

static const char *on_gpu_name(struct process *p, const union packet *m)
{
	if (m->about.object == WIRE_GPU_THREAD_NAME) {
		threads_name_tid(p, m->about.number, text_of(m, 0));
		return NULL;
	}
	return gpu_name(p->gpu, &m->about, text_of(m, 0))
		       ? NULL
		       : "a name of a GPU or kernel that makes no sense";
}

TAKES(on_gpu_device, gpu_device_told(p->gpu, &m->gpu_device, text_of(m, 0)))
TAKES(on_gpu_stream, gpu_stream_told(p->gpu, &m->gpu_stream, text_of(m, 0)))

static const char *on_counter(struct process *p, const union packet *m)
{
	if (!user_counters_define(&p->user_counters, &m->counter, text_of(m, 0), text_of(m, 1)))
		return "it defined a counter of no known type";
	return NULL;
}

TAKES(on_openacc,
	regions_openacc_define(p, &m->openacc, text_of(m, 0), text_of(m, 1), text_of(m, 2)))

static const char *on_file_name(struct process *p, const union packet *m)
{
	if (p->files && !files_define(p->files, &m->file_name, text_of(m, 0)))
		return "it named a file that cannot be";
	return NULL;
}

static const char *on_lock(struct process *p, const union packet *m)
{
	if (p->lock_uses && !lock_uses_define(p->lock_uses, &m->lock))
		return "it has a lock that cannot be";
	return NULL;
}

static const char *on_bye(struct process *p, const union packet *m)
{
	p->said_bye = true;
	process_has_had(p, (struct cpu_used){m->bye.cpu_ns, m->bye.queued_ns});
	observers_tell(p->host, bye, p);
	return NULL;
}

TAKES(on_gave_up, process_gave_up(p))
TAKES(on_live, observers_tell(p->host, viewer, p, &m->live))

static const struct packet_kind packet_kinds[WIRE_KINDS] = {
	[WIRE_HELLO] = {sizeof(struct wire_hello), on_hello},
	[WIRE_MODULE] = {sizeof(struct wire_module), on_module},
	[WIRE_MODULE_GONE] = {sizeof(struct wire_number), on_module_gone},
	[WIRE_THREAD] = {sizeof(struct wire_thread), on_thread},
	[WIRE_THREAD_END] = {sizeof(struct wire_number), on_thread_end},
	[WIRE_THREAD_NAME] = {sizeof(struct wire_number), on_thread_name},
	[WIRE_REGION] = {sizeof(struct wire_region), on_region},
	[WIRE_CONSTRUCT] = {sizeof(struct wire_construct), on_construct},
	[WIRE_NOTE] = {sizeof(struct wire_head), on_note},
	[WIRE_RANK] = {sizeof(struct wire_rank), on_rank},
	[WIRE_FORK] = {sizeof(struct wire_fork), on_fork},
	[WIRE_STACK] = {sizeof(struct wire_number), on_stack},
	[WIRE_BYE] = {sizeof(struct wire_bye), on_bye},
	[WIRE_COMM] = {sizeof(struct wire_comm), on_comm},
	[WIRE_NEIGHBOURS] = {sizeof(struct wire_neighbours), on_neighbours},
	[WIRE_GONE] = {sizeof(struct wire_about), on_gone},
	[WIRE_WINDOW] = {sizeof(struct wire_object), on_object},
	[WIRE_FILE] = {sizeof(struct wire_object), on_object},
	[WIRE_NAME] = {sizeof(struct wire_about), on_name},
	[WIRE_GPU] = {sizeof(struct wire_gpu), on_gpu},
	[WIRE_GPU_NAME] = {sizeof(struct wire_about), on_gpu_name},
	[WIRE_GPU_DEVICE] = {sizeof(struct wire_gpu_device), on_gpu_device},
	[WIRE_GPU_STREAM] = {sizeof(struct wire_gpu_stream), on_gpu_stream},
	[WIRE_SESSION] = {sizeof(struct wire_session), on_session},
	[WIRE_COUNTER] = {sizeof(struct wire_counter), on_counter},
	[WIRE_OPENACC] = {sizeof(struct wire_openacc), on_openacc},
	[WIRE_GAVE_UP] = {sizeof(struct wire_head), on_gave_up},
	[WIRE_LIVE] = {sizeof(struct wire_live), on_live},
	[WIRE_FILE_NAME] = {sizeof(struct wire_file_name), on_file_name},
	[WIRE_LOCK] = {sizeof(struct wire_lock), on_lock},
};

static bool is_first(uint32_t kind)
{
	return kind == WIRE_HELLO || kind == WIRE_LIVE;
}

static void on_packet(struct process *p, union packet *m, size_t bytes)
{
	const uint32_t kind = m->head.kind;
	const uint64_t now = host_ticks(p->host);
	const struct packet_kind *k = kind < WIRE_KINDS ? &packet_kinds[kind] : NULL;
	const char *why;

	if (!k || !k->take || bytes < k->fixed || m->head.text_bytes != bytes - k->fixed ||
		is_first(kind) == p->greeted) {
		process_quarantine(
			p, "a message of kind %u and %zu bytes that makes no sense", kind, bytes);
		return;
	}
	if (kind != WIRE_HELLO && m->head.ticks > now)
		m->head.ticks = now;
	p->definitions += kind != WIRE_HELLO;
	why = k->take(p, m);
	if (why)
		process_quarantine(p, "%s", why);
}

enum received { ALL_READ, MORE_TO_READ, HUNG_UP };

/* Reads messages until the time `until`, in raw ns. */
static enum received receive(struct process *p, uint64_t until)
{
	union packet m;

	for (int left = PACKETS_AT_ONCE; left && p->socket >= 0; left--) {
		ssize_t n = recv(p->socket, &m, PACKET_BYTES, MSG_DONTWAIT);

		/* it has ended without reading an answer: told once, before what it has said */
		if (n < 0 && (errno == EINTR || errno == ECONNRESET))
			continue;
		if (n < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? ALL_READ : HUNG_UP;
		if (n == 0)
			return HUNG_UP;
		if ((size_t)n < sizeof(m.head))
			continue; /* the doorbell */
		m.bytes[n] = '\0';
		if (!p->quarantined && !p->turned_away)
			on_packet(p, &m, (size_t)n);
		if (clock_raw_ns() > until)
			break;
	}
	return p->socket >= 0 ? MORE_TO_READ : HUNG_UP;
}

static uint64_t turn(void)
{
	return clock_raw_ns() + TURN_NS;
}

bool process_receive(struct process *p)
{
	return receive(p, turn()) != HUNG_UP;
}

bool process_receive_all(struct process *p)
{
	for (int k = 0; k < TIMES_AT_ONCE; k++)
		if (receive(p, turn()) != MORE_TO_READ)
			return true;
	return false;
}

void process_receive_last(struct process *p)
{
	for (int k = 0; k < TIMES_AT_ONCE; k++)
		if (receive(p, UINT64_MAX) != MORE_TO_READ)
			return;
}
