/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal of this process: a second screen of it, one key at a time, and what was there
 * before, which comes back at terminal_close(), at exit(), while the process is stopped by the
 * terminal, and at each death that a process can see. One at a time, for one thread: the handlers
 * of signals are this module's.
 */
#ifndef VFTR_NODEAGENT_TOOL_TOP_TERMINAL_H
#define VFTR_NODEAGENT_TOOL_TOP_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame;

/* What stdout can do. */
struct terminal_kind {
	bool there;  /* it is a terminal */
	bool dumb;   /* it knows no escapes */
	bool ascii;  /* the locale has no UTF-8 */
	bool styles; /* false: NO_COLOR */
};
struct terminal_kind terminal_kind(void);

void terminal_size(size_t *height, size_t *width);

/* `kind` is not dumb. */
void terminal_open(const struct terminal_kind *kind);
void terminal_close(void);

/* Writes the lines that differ from the last frame, by one write. */
void terminal_draw(const struct frame *f);

enum terminal_event {
	TERMINAL_KEYS = 1,    /* terminal_key() has some */
	TERMINAL_FD = 2,      /* the other descriptor can be read */
	TERMINAL_CHANGED = 4, /* the frame is to be made anew, for terminal_size() */
	TERMINAL_GONE = 8,    /* nobody will press a key any more */
};

/*
 * Waits until one of these events, at most ns. Returns their bits, 0 if the time is over. May be
 * called before terminal_open().
 */
unsigned terminal_wait(int fd, int64_t ns);

/* Characters, and: */
enum terminal_key {
	KEY_NONE,
	KEY_BACKSPACE = 0x7f,
	KEY_ESCAPE = 0x1b,
	KEY_UP = 256,
	KEY_DOWN,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_OTHER
};

/* The next key that was pressed, or KEY_NONE. */
int terminal_key(void);

#endif
