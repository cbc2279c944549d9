/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal of this process: its second screen, and keys one at a time. What was there before
 * comes back at terminal_close(), at exit(), while the process is stopped by the terminal, and at
 * each death that a process can see. For one thread; between terminal_open() and terminal_close()
 * the handlers of signals are those of this module, and then the default ones.
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
	bool styles; /* bold and reverse are wanted; false: NO_COLOR */
};
struct terminal_kind terminal_kind(void);

/* Lines and columns of stdout; 24 and 80 if it does not tell. */
void terminal_size(size_t *height, size_t *width);

/* Shows the second screen. kind: of stdout, not dumb. */
void terminal_open(const struct terminal_kind *kind);
void terminal_close(void);

/* Shows a frame: writes the lines that differ from the last one, at once. */
void terminal_draw(const struct frame *f);

enum terminal_event {
	TERMINAL_KEYS = 1,    /* terminal_key() has some */
	TERMINAL_FD = 2,      /* fd can be read */
	TERMINAL_CHANGED = 4, /* the frame is to be made anew, for terminal_size() */
	TERMINAL_GONE = 8,    /* nobody will press a key any more */
};

/*
 * Waits until one of these events, at most ns. Returns their bits; 0 if the time is over or a
 * signal came. May be called before terminal_open(), and then there are no keys.
 */
unsigned terminal_wait(int fd, int64_t ns);

/* What terminal_key() returns beside the bytes of characters. */
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

/* The next key that was read, a byte or an enum terminal_key; KEY_NONE: there is none. */
int terminal_key(void);

#endif
