/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include "nodeagent/base/util.h"
#include "nodeagent/tool/top/frame.h"

/* second screen, no cursor, no lines that go on in the next one; and back */
#define ENTER  "\033[?1049h\033[?25l\033[?7l\033[2J"
#define LEAVE  "\033[?7h\033[?25h\033[?1049l"
#define NORMAL "\033[0m"

#define HEIGHT_UNKNOWN 24
#define WIDTH_UNKNOWN  80
#define REST_MS	       50 /* until the rest of a key has come, over a slow line */

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2,
	SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGXCPU, SIGXFSZ, SIGSYS};

static struct {
	volatile sig_atomic_t open, changed;
	bool raw; /* stdin is the terminal, too */
	bool styles;
	struct termios before, now;
	struct frame drawn;
	char keys[64];
	size_t n_keys;
	bool gone;
	bool registered; /* for exit() */
} terminal;

/* ---- what it is ---------------------------------------------------------------------------- */

static bool is_ascii(void)
{
	locale_t l = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool ascii = true;

	if (l) {
		ascii = strcmp(nl_langinfo_l(CODESET, l), "UTF-8");
		freelocale(l);
	}
	return ascii;
}

struct terminal_kind terminal_kind(void)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	return (struct terminal_kind){.there = isatty(STDOUT_FILENO),
		.dumb = !term || !term[0] || !strcmp(term, "dumb"),
		.ascii = is_ascii(),
		.styles = !no_color || !no_color[0]};
}

void terminal_size(size_t *height, size_t *width)
{
	struct winsize size;

	*height = HEIGHT_UNKNOWN;
	*width = WIDTH_UNKNOWN;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col) {
		*height = size.ws_row;
		*width = size.ws_col;
	}
}

/* ---- there and back: all of it may be called in a handler of signals ---------------------------
 */

static void write_all(const char *text, size_t bytes)
{
	ssize_t n;

	while (bytes && ((n = write(STDOUT_FILENO, text, bytes)) > 0 || errno == EINTR))
		if (n > 0) {
			text += n;
			bytes -= (size_t)n;
		}
}

static void set_modes(const struct termios *modes)
{
	while (terminal.raw && tcsetattr(STDIN_FILENO, TCSANOW, modes) && errno == EINTR)
		;
}

static void enter_screen(void)
{
	set_modes(&terminal.now);
	write_all(ENTER, sizeof(ENTER) - 1);
	terminal.open = 1;
	terminal.changed = 1;
}

static void leave_screen(void)
{
	if (!terminal.open)
		return;
	terminal.open = 0;
	set_modes(&terminal.before); /* before the user sees his screen, and types */
	write_all(NORMAL LEAVE, sizeof(NORMAL LEAVE) - 1);
}

/* The handler is not in force any more, and the signal comes again when it returns. */
static void on_death(int signal)
{
	leave_screen();
	raise(signal);
}

static void on_stop(int signal)
{
	leave_screen();
	raise(signal == SIGTSTP ? SIGSTOP : signal);
}

/* Also after SIGSTOP, when somebody else may have used the terminal meanwhile. */
static void on_continue(int signal)
{
	const int error = errno;

	if (terminal.open)
		set_modes(&terminal.now);
	else
		enter_screen();
	terminal.changed = 1;
	errno = error;
}

static void on_size(int signal)
{
	terminal.changed = 1;
}

static void catch (int signal, void (*handler)(int), int flags)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags}, had;

	sigfillset(&a.sa_mask);
	if (!sigaction(signal, NULL, &had) && had.sa_handler != SIG_IGN)
		sigaction(signal, &a, NULL);
}

static void catch_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		catch (deadly[i], on_death, (int)SA_RESETHAND);
	catch (SIGTSTP, on_stop, SA_RESTART);
	catch (SIGCONT, on_continue, SA_RESTART);
	catch (SIGWINCH, on_size, 0);
}

static void let_go(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(deadly); i++)
		catch (deadly[i], SIG_DFL, 0);
	catch (SIGTSTP, SIG_DFL, 0);
	catch (SIGCONT, SIG_DFL, 0);
	catch (SIGWINCH, SIG_DFL, 0);
}

void terminal_open(const struct terminal_kind *kind)
{
	terminal.styles = kind->styles;
	terminal.raw = isatty(STDIN_FILENO) && !tcgetattr(STDIN_FILENO, &terminal.before);
	terminal.now = terminal.before;
	terminal.now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	terminal.now.c_cc[VMIN] = 1;
	terminal.now.c_cc[VTIME] = 0;
	if (!terminal.registered)
		atexit(terminal_close);
	terminal.registered = true;
	catch_all();
	enter_screen();
}

void terminal_close(void)
{
	sigset_t all, had;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &had); /* a signal now would come back to the screen */
	leave_screen();
	let_go();
	sigprocmask(SIG_SETMASK, &had, NULL);
	frame_free(&terminal.drawn);
}

/* ---- frames --------------------------------------------------------------------------------- */

static bool is_drawn(size_t row, const struct frame_line *l)
{
	const struct frame_line *was = &terminal.drawn.lines[row];

	return row < terminal.drawn.n_lines && was->style == l->style &&
	       !strcmp(was->text, l->text);
}

/* The line is emptied first: behind its last column some terminals would empty that. */
static void put_line(FILE *f, size_t row, const struct frame_line *l)
{
	static const char *const styles[] = {"", "\033[1m", "\033[7m"};
	const bool styled = terminal.styles && l->style != LINE_PLAIN;

	fprintf(f, "\033[%zu;1H\033[K%s%s%s", row + 1, styled ? styles[l->style] : "", l->text,
		styled ? NORMAL : "");
}

static void keep_drawn(const struct frame *f)
{
	frame_free(&terminal.drawn);
	for (size_t i = 0; i < f->n_lines; i++)
		*LIST_ADD(&terminal.drawn, lines) =
			(struct frame_line){xstrdup(f->lines[i].text), f->lines[i].style};
}

void terminal_draw(const struct frame *f)
{
	const bool anew = terminal.changed;
	char *text = NULL;
	size_t bytes;
	FILE *to = memory_begin(&text, &bytes);

	terminal.changed = 0;
	if (anew) {
		frame_free(&terminal.drawn);
		fputs("\033[2J", to);
	}
	for (size_t i = 0; i < f->n_lines; i++)
		if (!is_drawn(i, &f->lines[i]))
			put_line(to, i, &f->lines[i]);
	for (size_t i = f->n_lines; i < terminal.drawn.n_lines; i++)
		fprintf(to, "\033[%zu;1H\033[K", i + 1);
	fclose(to);
	write_all(text, bytes);
	free(text);
	keep_drawn(f);
}

/* ---- what happens --------------------------------------------------------------------------- */

static void read_keys(void)
{
	const ssize_t n = read(STDIN_FILENO, terminal.keys + terminal.n_keys,
		sizeof(terminal.keys) - terminal.n_keys);

	if (n > 0)
		terminal.n_keys += (size_t)n;
	else
		terminal.gone = !n || (errno != EINTR && errno != EAGAIN);
}

unsigned terminal_wait(int fd, int64_t ns)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN},
		{.fd = terminal.raw && !terminal.gone ? STDIN_FILENO : -1, .events = POLLIN}};
	const struct timespec t = {ns / 1000000000, ns % 1000000000};
	sigset_t size, before;
	unsigned events;
	int n = 0;

	sigemptyset(&size);
	sigaddset(&size, SIGWINCH);
	sigaddset(&size, SIGCONT);
	sigprocmask(SIG_BLOCK, &size, &before); /* else one could come just before we wait */
	if (!terminal.changed && !terminal.n_keys)
		n = ppoll(p, 2, &t, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (n > 0 && p[1].revents)
		read_keys();
	events = (terminal.n_keys ? TERMINAL_KEYS : 0) | (terminal.changed ? TERMINAL_CHANGED : 0) |
		 (terminal.gone ? TERMINAL_GONE : 0);
	return events | (n > 0 && p[0].revents ? TERMINAL_FD : 0);
}

/* ---- keys ----------------------------------------------------------------------------------- */

static void drop_keys(size_t n)
{
	terminal.n_keys -= n;
	memmove(terminal.keys, terminal.keys + n, terminal.n_keys);
}

/* Of the keys that begin with an escape; *n: their bytes. */
static int escaped_key(size_t *n)
{
	static const struct {
		const char *bytes;
		int key;
	} known[] = {{"\033[A", KEY_UP}, {"\033[B", KEY_DOWN}, {"\033OA", KEY_UP},
		{"\033OB", KEY_DOWN}, {"\033[5~", KEY_PAGE_UP}, {"\033[6~", KEY_PAGE_DOWN}};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		*n = strlen(known[i].bytes);
		if (*n <= terminal.n_keys && !memcmp(terminal.keys, known[i].bytes, *n))
			return known[i].key;
	}
	*n = 1;
	if (terminal.n_keys == 1 || (terminal.keys[1] != '[' && terminal.keys[1] != 'O'))
		return KEY_ESCAPE;
	for (*n = 2; *n < terminal.n_keys; ++*n) /* up to its last character */
		if (terminal.keys[*n] >= '@')
			break;
	*n += *n < terminal.n_keys;
	return KEY_OTHER;
}

static bool is_whole(void)
{
	const char last = terminal.keys[terminal.n_keys - 1];

	return terminal.n_keys > 2 && (last >= '@' || last == '~');
}

int terminal_key(void)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	size_t n = 1;
	int key;

	if (!terminal.n_keys)
		return KEY_NONE;
	if (terminal.keys[0] != KEY_ESCAPE) {
		key = (unsigned char)terminal.keys[0];
		key = key == '\b' ? KEY_BACKSPACE : key ? key : KEY_OTHER;
	} else {
		while (!is_whole() && terminal.n_keys < 8 && poll(&p, 1, REST_MS) == 1 &&
			!terminal.gone)
			read_keys();
		key = escaped_key(&n);
	}
	drop_keys(n);
	return key;
}
