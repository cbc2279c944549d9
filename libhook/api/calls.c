/* SPDX-License-Identifier: BSD-3-Clause */
/* The public calls that are not regions or pauses: stack, version. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "libhook/process.h"
#include "libhook/successor.h"
#include "libhook/vftrace.h"

#define EXPORT __attribute__((visibility("default")))

/* Asks the agent for the open frames of this thread. Bytes, or -errno. */
static ssize_t ask_stack(struct thread *t, char *text, size_t bytes)
{
	struct wire_number request = {.head = {.kind = WIRE_STACK}, .number = t->index};
	struct wire_head *reply = (struct wire_head *)(void *)text;
	size_t got = 0;
	int fd, error;

	vftr_thread_publish(t);
	vftr_process_lock();
	error = vftr_message_send(&request.head, sizeof(request), NULL);
	if (!error)
		error = vftr_message_receive(text, bytes - 1, &fd, &got);
	if (error && error != -EBADF) /* a late answer would be taken for another one */
		vftr_agent_failed(error);
	vftr_process_unlock();
	if (error)
		return error;
	if (got < sizeof(*reply) || reply->kind != WIRE_STACK)
		return -EPROTO;
	memmove(text, text + sizeof(*reply), got - sizeof(*reply));
	text[got - sizeof(*reply)] = '\0';
	return (ssize_t)strlen(text);
}

EXPORT char *vftrace_get_stack(void)
{
	struct thread *t = &vftr_thread;
	int saved_errno = errno;
	char *text = malloc(WIRE_TEXT_MAX + sizeof(struct wire_head) + 1);
	ssize_t n = -1;

	if (!text) {
		errno = saved_errno;
		return NULL;
	}
	vftr_slow(clock_counter(), 0, 0, NULL);
	if (!t->busy && process_is_on() && !vftr_thread_is_vfork_child(t) && t->ring.base &&
		t->state != THREAD_OFF) {
		busy_begin(t);
		n = ask_stack(t, text, WIRE_TEXT_MAX + sizeof(struct wire_head) + 1);
		busy_end(t);
	}
	if (n <= 0)
		strcpy(text, "init");
	errno = saved_errno;
	return text;
}

EXPORT int vftrace_get_stack_string_length(void)
{
	int saved_errno = errno;
	char *s = vftrace_get_stack();
	int n = s ? (int)strlen(s) : 0;

	free(s);
	errno = saved_errno;
	return n;
}

EXPORT const char *vftrace_version(void)
{
	return VFTR_VERSION;
}
