/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counter of app-openmp.h for app-openmp.f90. One region at a time is open;
 * parts of teams and tasks save the path of what the thread was doing.
 */
#include "app-openmp.h"

void of_enter(const char *name) UNTRACED;
void of_leave(void) UNTRACED;
void of_fork(int line) UNTRACED;
void of_join(void) UNTRACED;
void of_team(void) UNTRACED;
void of_task(int line) UNTRACED;
void of_part(void) UNTRACED;
void of_created(int line) UNTRACED;
void of_write(void) UNTRACED;

#define FILE_NAME "app-openmp.f90"

static struct path fork_path;
static __thread struct path *saved; /* innermost last */
static __thread int depth, room;

static UNTRACED void save(const struct path *p)
{
	if (depth == room) {
		room = room ? 2 * room : 8;
		saved = realloc(saved, room * sizeof(*saved));
		if (!saved)
			abort();
	}
	saved[depth++] = *p;
}

void of_enter(const char *name)
{
	struct path before = push_saving(name);

	save(&before);
}

void of_leave(void)
{
	restore(&saved[--depth]);
}

void of_fork(int line)
{
	fork_path = forked(FILE_NAME, line);
}

void of_join(void)
{
	join();
}

void of_team(void)
{
	struct path before = teamed(&fork_path);

	save(&before);
}

void of_part(void)
{
	of_leave();
}

void of_task(int line)
{
	struct path before = tasked(&fork_path, FILE_NAME, line);

	save(&before);
}

void of_created(int line)
{
	created(FILE_NAME, line);
}

void of_write(void)
{
	(void)worked;
	(void)waited;
	write_counts();
}
