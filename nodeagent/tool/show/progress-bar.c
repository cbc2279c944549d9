/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/show/progress-bar.h"

#include <stdio.h>
#include <unistd.h>

#define PARTS 40

void progress_bar_draw(void *to, double part)
{
	struct progress_bar *bar = to;
	const int parts = (int)(part * PARTS);
	char text[PARTS + 1];

	if (bar->quiet || parts == bar->shown || !isatty(STDERR_FILENO))
		return;
	bar->shown = parts;
	for (int i = 0; i < PARTS; i++)
		text[i] = i < parts ? '#' : '.';
	text[PARTS] = '\0';
	fprintf(stderr, "\r%.40s [%s] %3.0f %%", bar->name, text, part * 100);
}

void progress_bar_clear(struct progress_bar *bar)
{
	if (bar->shown)
		fputs("\r\033[K", stderr);
	bar->shown = 0;
}
