/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/last-words.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "conf/conf.h"
#include "nodeagent/agent/roles/agent.h"
#include "nodeagent/process/process.h"
#include "nodeagent/agent/step/in-step.h"
#include "nodeagent/agent/step/step.h"
#include "nodeagent/readers/readers.h"

#define WRITE_MS      10000		   /* and no process waits longer for the files */
#define ABORT_READ_NS UINT64_C(1000000000) /* ... and less for them in MPI_Abort */

uint32_t last_words_ms(const struct agent *a)
{
	if (a->form != FORM_EMBEDDED || !step_has_group())
		return 0;
	return (uint32_t)(1e3 * a->host.conf->agent_linger_s) + WRITE_MS;
}

/* Slurm ends a step when those have ended that its slurmstepd, or an mpirun, has started. */
static bool is_task(const struct process *p)
{
	char path[64], name[32] = "";
	FILE *f;

	if (p->rank != WIRE_UNKNOWN)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/comm", p->parent_pid);
	f = fopen(path, "re");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = '\0';
	if (f)
		fclose(f);
	return !strncmp(name, "slurmstepd", 10);
}

static void let_go(struct process *p)
{
	struct wire_head may_end = {.kind = WIRE_MAY_END};

	p->held = false;
	if (p->socket >= 0)
		send(p->socket, &may_end, sizeof(may_end), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool somebody_goes_on(const struct agent *a)
{
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->greeted && !p->ended && !p->said_bye)
			return true;
	return false;
}

/* Answers, or holds the process. */
static void on_bye(struct process *p)
{
	if (!p->host->last_words_ms)
		return;
	p->was_task = is_task(p);
	p->held = p->was_task && !p->quarantined && !somebody_goes_on(agent_of(p->host));
	if (!p->held)
		let_go(p);
}

/* We may be in the middle of reading others, whose calls are to be in the results, too. */
static void on_abort(struct process *p)
{
	p->aborts = agent_of(p->host)->step != NULL;
}

static bool any_aborts(const struct agent *a)
{
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->aborts)
			return true;
	return false;
}

/* All that was said and published when it was called; those that go on cannot keep us here. */
static void read_all(struct agent *a)
{
	const uint64_t until = clock_raw_ns() + ABORT_READ_NS;

	do {
		for (struct process *p = a->host.live; p; p = p->next_live)
			if (!p->ended && p->socket >= 0)
				process_receive_all(p);
	} while (readers_drain(a->readers) && clock_raw_ns() < until);
}

/* Slurm may kill all of the step, and us, as soon as the call is made. */
void last_words_abort(struct agent *a)
{
	struct wire_head reply = {.kind = WIRE_STACK};

	if (!a->step || !any_aborts(a))
		return;
	read_all(a);
	in_step_abort(a);
	for (struct process *p = a->host.live; p; p = p->next_live) {
		if (p->aborts)
			process_answer(p, &reply, sizeof(reply), "MPI_Abort", -1);
		p->aborts = false;
	}
}

const struct process_observer last_words_observer = {.bye = on_bye, .abort = on_abort};

static bool any_held(const struct agent *a)
{
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->held && !p->ended)
			return true;
	return false;
}

void last_words_tick(struct agent *a)
{
	if (a->form != FORM_EMBEDDED || !any_held(a) || !somebody_goes_on(a))
		return;
	for (struct process *p = a->host.live; p; p = p->next_live)
		if (p->held)
			let_go(p);
}

bool last_words_all_held(const struct agent *a)
{
	if (a->form != FORM_EMBEDDED || !a->host.n_live)
		return false;
	for (const struct process *p = a->host.live; p; p = p->next_live)
		if (p->greeted && !p->ended && !p->held)
			return false;
	return true;
}

bool last_words_complete(const struct agent *a)
{
	struct step s;
	int tasks = 0;

	if (!last_words_all_held(a))
		return false;
	step_read(&s);
	for (const struct process *p = a->host.processes; p; p = p->next)
		tasks += p->was_task;
	return s.local_size >= 0 && tasks >= s.local_size;
}
