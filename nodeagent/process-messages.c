/* SPDX-License-Identifier: BSD-3-Clause */
/* What a process says on its socket, and the answers. */
#include "nodeagent/process.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/sockios.h>
#include <time.h>
#include <unistd.h>
#include "conf/conf.h"
#include "nodeagent/agent.h"
#include "nodeagent/budget.h"
#include "nodeagent/counters.h"
#include "nodeagent/demangle.h"
#include "nodeagent/drain.h"
#include "nodeagent/forks.h"
#include "nodeagent/gpu.h"
#include "nodeagent/last-words.h"
#include "nodeagent/match-node.h"
#include "nodeagent/matching.h"
#include "nodeagent/openmp.h"
#include "nodeagent/pids.h"
#include "nodeagent/process-past.h"
#include "nodeagent/procfs.h"
#include "nodeagent/regions.h"
#include "nodeagent/sampling.h"
#include "nodeagent/sessions.h"
#include "nodeagent/symcache.h"
#include "nodeagent/threads.h"
#include "nodeagent/traffic-sync.h"
#include "nodeagent/traffic.h"
#include "nodeagent/user-counters.h"
#include "nodeagent/util.h"
#include "shm/openacc.h"
#include "shm/ring.h"

#define PACKET_BYTES	(sizeof(struct wire_module) + WIRE_TEXT_MAX)
#define PACKETS_AT_ONCE 4096		  /* or as many as can be read in ... */
#define TURN_NS		UINT64_C(5000000) /* then the others have their turn */
#define UNREAD_BYTES	16384 /* of answers, as the kernel counts: it asks, and does not listen */
#define TIMES_AT_ONCE	16    /* ... unless records wait for what they say */
#define STACK_FRAMES	4096

union packet {
	struct wire_head head;
	struct wire_hello hello;
	struct wire_gpu gpu;
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
	m->ticks = agent_ticks(p->agent);
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
	agent_warn(p->agent, false, "process %d was refused: %s", p->pid, text);
	shutdown(p->socket, SHUT_RDWR);
}

/* The first process is told, and says it; the others are switched off without a word. */
static void refuse_version(struct process *p, uint32_t version)
{
	struct wire_welcome off = {
		.head = {.kind = WIRE_WELCOME}, .version = WIRE_VERSION, .off = 1};

	if (p->agent->refused_version != version) {
		p->agent->refused_version = version;
		refuse(p, "the library speaks version %u, the agent (" VFTR_VERSION ") version %u",
			version, WIRE_VERSION);
		return;
	}
	agent_warn(p->agent, false, "more processes were refused: their library has version %u",
		version);
	p->turned_away = true;
	process_answer(p, &off.head, sizeof(off), NULL, -1);
	shutdown(p->socket, SHUT_RDWR);
}

/* The k-th string behind the fixed part; "" if there is none. */
static const char *text_of(const union packet *m, size_t fixed, int k)
{
	const char *s = m->bytes + fixed, *end = s + m->head.text_bytes;

	for (; k && s < end; k--)
		s += strlen(s) + 1; /* the packet ends in a NUL of ours */
	return s < end ? s : "";
}

static void on_hello(struct process *p, const union packet *m)
{
	struct agent *a = p->agent;
	struct wire_welcome w = {.head = {.kind = WIRE_WELCOME},
		.version = WIRE_VERSION,
		.clock_source = a->clocks.source,
		.ring_size = a->conf->shm_ring_size,
		.drop_when_full = !strcmp(a->conf->shm_when_full, "drop"),
		.off = a->conf->off,
		.messages = !a->conf->mpi_log_messages ? WIRE_MESSAGES_NONE
			    : a->conf->sampling_active ||
					    strcmp(a->conf->mpi_only_for_ranks, "all") != 0
				    ? WIRE_MESSAGES_EACH
				    : WIRE_MESSAGES_SUMS,
		.gpu = a->conf->cuda_show_table || a->conf->sampling_active,
		.openacc = a->conf->openacc_active,
		.block_most_ms = (uint32_t)(1e3 * a->conf->shm_block_most_s),
		.publish_forks = a->conf->sampling_active,
		.last_words_ms = last_words_ms(a)};
	struct control_app_shm *app;
	int fd, error;

	if (m->hello.version != WIRE_VERSION) {
		refuse_version(p, m->hello.version);
		return;
	}
	error = segment_create_control(&fd, &p->control, &app);
	if (error) {
		refuse(p, "cannot make a control page: %s", strerror(-error));
		return;
	}
	p->control_app = app;
	p->control->clock_source = a->clocks.source;
	counters_ask(a, p);
	p->parent_pid = m->hello.ppid;
	p->parent_traced = m->hello.parent_traced;
	p->parent_fork = m->hello.parent_fork;
	p->rank_hint = m->hello.rank_hint;
	p->size_hint = m->hello.size_hint;
	p->executable = xstrdup(text_of(m, sizeof(m->hello), 0));
	p->invoked_as = xstrdup(text_of(m, sizeof(m->hello), 1));
	p->directory = xstrdup(text_of(m, sizeof(m->hello), 2));
	p->start_ticks = a->clocks.source == CLOCK_SOURCE_RAW ? m->hello.raw_ns : m->head.ticks;
	if (p->start_ticks > agent_ticks(a))
		p->start_ticks = agent_ticks(a);
	if (!a->n_ever || p->connected_ticks < a->first_start_ticks)
		a->first_start_ticks = p->connected_ticks;
	p->start_s = time(NULL);
	p->greeted = !a->conf->off;
	p->turned_away = !p->greeted;
	if (p->greeted)
		process_enlist(p);
	a->n_ever += p->greeted;
	a->n_live += p->greeted;
	if (!p->parent_fork) /* nobody has announced it */
		a->children_seen--;
	sampling_process_begin(p);
	budget_process_begin(p);
	process_members_changed(a);
	process_answer(p, &w.head, sizeof(w), NULL, fd);
	close(fd);
}

/* What the library wants the user to know. */
static void on_note(struct process *p, const char *text)
{
	char line[256];
	size_t n = 0;

	for (; text[n] && n + 1 < sizeof(line); n++)
		line[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	line[n] = '\0';
	agent_warn(p->agent, false, "%s", line);
}

/* The open frames of a thread; it has published them and waits. */
static void on_stack(struct process *p, uint64_t index)
{
	static uint64_t keys[STACK_FRAMES];
	const struct name_style style = {
		p->agent->conf->strip_module_names, p->agent->conf->demangle_cxx};
	struct wire_head reply = {.kind = WIRE_STACK};
	char text[WIRE_TEXT_MAX];
	size_t n = 0, used = 0;

	if (index < p->n_threads && p->threads[index]) {
		drain_thread(p->threads[index]);
		n = replay_stack(p->threads[index]->replay, keys, STACK_FRAMES);
	}
	for (size_t i = 0; i < n; i++) {
		char *name = name_shown(symcache_name(p->agent->symbols, p, keys[i]), &style);
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
	process_answer(p, &reply, sizeof(reply), text, -1);
}

static const size_t fixed_bytes[WIRE_KINDS] = {
	[WIRE_HELLO] = sizeof(struct wire_hello),
	[WIRE_MODULE] = sizeof(struct wire_module),
	[WIRE_MODULE_GONE] = sizeof(struct wire_number),
	[WIRE_THREAD] = sizeof(struct wire_thread),
	[WIRE_THREAD_END] = sizeof(struct wire_number),
	[WIRE_THREAD_NAME] = sizeof(struct wire_number),
	[WIRE_REGION] = sizeof(struct wire_region),
	[WIRE_CONSTRUCT] = sizeof(struct wire_construct),
	[WIRE_NOTE] = sizeof(struct wire_head),
	[WIRE_RANK] = sizeof(struct wire_rank),
	[WIRE_FORK] = sizeof(struct wire_fork),
	[WIRE_STACK] = sizeof(struct wire_number),
	[WIRE_BYE] = sizeof(struct wire_head),
	[WIRE_COMM] = sizeof(struct wire_comm),
	[WIRE_NEIGHBOURS] = sizeof(struct wire_neighbours),
	[WIRE_GONE] = sizeof(struct wire_about),
	[WIRE_WINDOW] = sizeof(struct wire_object),
	[WIRE_FILE] = sizeof(struct wire_object),
	[WIRE_NAME] = sizeof(struct wire_about),
	[WIRE_GPU] = sizeof(struct wire_gpu),
	[WIRE_GPU_NAME] = sizeof(struct wire_about),
	[WIRE_GPU_DEVICE] = sizeof(struct wire_gpu_device),
	[WIRE_GPU_STREAM] = sizeof(struct wire_gpu_stream),
	[WIRE_SESSION] = sizeof(struct wire_session),
	[WIRE_COUNTER] = sizeof(struct wire_counter),
	[WIRE_OPENACC] = sizeof(struct wire_openacc),
	[WIRE_GAVE_UP] = sizeof(struct wire_head),
};

/* Nobody is left to read an answer. */
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

static void on_packet(struct process *p, union packet *m, size_t bytes)
{
	uint32_t kind = m->head.kind;
	uint64_t now = agent_ticks(p->agent);

	if (kind >= WIRE_KINDS || !fixed_bytes[kind] || bytes < fixed_bytes[kind] ||
		m->head.text_bytes != bytes - fixed_bytes[kind] ||
		(kind == WIRE_HELLO) == p->greeted) {
		process_quarantine(
			p, "a message of kind %u and %zu bytes that makes no sense", kind, bytes);
		return;
	}
	if (kind != WIRE_HELLO && m->head.ticks > now)
		m->head.ticks = now;
	p->definitions += kind != WIRE_HELLO;
	switch (kind) {
	case WIRE_HELLO:
		on_hello(p, m);
		break;
	case WIRE_MODULE:
		codemap_add(p->code, &m->module, text_of(m, sizeof(m->module), 0));
		break;
	case WIRE_MODULE_GONE:
		codemap_gone(p->code, m->number.number, m->head.ticks);
		break;
	case WIRE_THREAD: /* what it costs is only for one who wants it */
		if (is_gone(p))
			break;
		if (!reads_answers(p)) {
			process_quarantine(p, "it asks for rings and does not read the answers");
			break;
		}
		threads_begin(p, &m->thread, text_of(m, sizeof(m->thread), 0));
		break;
	case WIRE_THREAD_END:
		threads_end(p, m->number.number, m->head.ticks, text_of(m, sizeof(m->number), 0));
		break;
	case WIRE_THREAD_NAME:
		threads_name(p, m->number.number, text_of(m, sizeof(m->number), 0));
		break;
	case WIRE_REGION:
		regions_define(p, m->region.number, text_of(m, sizeof(m->region), 0));
		break;
	case WIRE_CONSTRUCT:
		regions_construct(p, &m->construct, text_of(m, sizeof(m->construct), 0));
		break;
	case WIRE_NOTE:
		on_note(p, text_of(m, sizeof(m->head), 0));
		break;
	case WIRE_RANK:
		process_set_rank(p, &m->rank);
		break;
	case WIRE_FORK:
		forks_add(p, &m->fork);
		break;
	case WIRE_STACK:
		on_stack(p, m->number.number);
		break;
	case WIRE_SESSION:
		sessions_request(p, &m->session, m->bytes + sizeof(m->session));
		break;
	case WIRE_GPU:
		if (!gpu_packet(p->gpu, &m->gpu, m->bytes + sizeof(m->gpu)))
			process_quarantine(p, "activities of a GPU that make no sense");
		break;
	case WIRE_GPU_NAME:
		if (!gpu_name(p->gpu, &m->about, text_of(m, sizeof(m->about), 0)))
			process_quarantine(p, "a name of a GPU or kernel that makes no sense");
		break;
	case WIRE_GPU_DEVICE:
		gpu_device_told(p->gpu, &m->gpu_device, text_of(m, sizeof(m->gpu_device), 0));
		break;
	case WIRE_GPU_STREAM:
		gpu_stream_told(p->gpu, &m->gpu_stream, text_of(m, sizeof(m->gpu_stream), 0));
		break;
	case WIRE_COUNTER:
		user_counters_define(p, &m->counter, text_of(m, sizeof(m->counter), 0),
			text_of(m, sizeof(m->counter), 1));
		break;
	case WIRE_OPENACC:
		regions_openacc_define(p, &m->openacc, text_of(m, sizeof(m->openacc), 0),
			text_of(m, sizeof(m->openacc), 1), text_of(m, sizeof(m->openacc), 2));
		break;
	case WIRE_BYE:
		p->said_bye = true;
		last_words_bye(p);
		break;
	case WIRE_GAVE_UP:
		process_gave_up(p);
		break;
	default:
		process_define(p, &m->head, m->bytes + fixed_bytes[kind]);
	}
}

enum received { ALL_READ, MORE_TO_READ, HUNG_UP };

static enum received receive(struct process *p)
{
	uint64_t until = clock_raw_ns() + TURN_NS;
	union packet m;

	for (int left = PACKETS_AT_ONCE; left && p->socket >= 0; left--) {
		ssize_t n = recv(p->socket, &m, PACKET_BYTES, MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
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

bool process_receive(struct process *p)
{
	return receive(p) != HUNG_UP;
}

bool process_receive_all(struct process *p)
{
	for (int k = 0; k < TIMES_AT_ONCE; k++)
		if (receive(p) != MORE_TO_READ)
			return true;
	return false;
}
