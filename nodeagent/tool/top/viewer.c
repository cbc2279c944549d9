/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/tool/top/viewer.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "nodeagent/base/runtime-dir.h"
#include "nodeagent/base/util.h"
#include "nodeagent/live/view.h"
#include "nodeagent/live/where/where.h"
#include "nodeagent/net/tcp/viewer-link.h"
#include "shm/wire.h"

#define SOCKET ".sock"
#define MEET_S 10.0 /* until an agent of another node has answered */

/* ---- which session ---------------------------------------------------------------------- */

/* Adds the name of a session to a list for people. */
static char *add_listed(char *list, const char *name, int bytes)
{
	return xappend(list, "%s%.*s", list ? ", " : "", bytes, name);
}

/* The only session of this node; NULL and *error. */
static char *only_session(const char *dir, char **error)
{
	DIR *d = opendir(dir);
	char *list = NULL;
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d))) {
		const size_t bytes = strlen(e->d_name), end = strlen(SOCKET);

		if (bytes <= end || strcmp(e->d_name + bytes - end, SOCKET))
			continue;
		list = add_listed(list, e->d_name, (int)(bytes - end));
		n++;
	}
	if (d)
		closedir(d);
	if (n == 1)
		return list;
	*error = n ? xasprintf("several sessions run here: %s; choose one with --session", list)
		   : xasprintf("no agent runs here: there is no session in %s", dir);
	free(list);
	return NULL;
}

static char *session_of(const char *wanted, const char *dir, char **error)
{
	const char *named = getenv("VFTR_SESSION");

	if (!wanted && named && named[0])
		wanted = named;
	if (!wanted)
		return only_session(dir, error);
	if (wanted[0] && wanted[0] != '.' && !strchr(wanted, '/'))
		return xstrdup(wanted);
	*error = xasprintf("`%s' is no name of a session", wanted);
	return NULL;
}

/* ---- the connection ------------------------------------------------------------------------- */

uint64_t viewer_stamp(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool send_packet(const struct viewer *w, const void *packet, size_t bytes)
{
	if (w->link)
		return viewer_link_send(w->link, packet, bytes);
	return send(w->fd, packet, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* record: as in struct wire_live. */
static bool ask_for(const struct viewer *w, uint64_t record)
{
	const struct wire_live m = {.head = {.kind = WIRE_LIVE},
		.version = WIRE_LIVE_VERSION,
		.period_ms = (uint32_t)(w->period / 1000000),
		.where = w->where != NULL,
		.record = record};

	return send_packet(w, &m, sizeof(m));
}

void viewer_switch(const struct viewer *w, const char *name, bool off, uint64_t stamp)
{
	struct {
		struct wire_switch order;
		char name[WIRE_FUNCTION_MAX];
	} m = {.order = {.head = {.kind = WIRE_SWITCH},
		       .version = WIRE_LIVE_VERSION,
		       .off = off,
		       .stamp = stamp},
		.name = ""};

	snprintf(m.name, sizeof(m.name), "%s", name);
	m.order.head.text_bytes = (uint32_t)strlen(m.name) + 1;
	send_packet(w, &m, sizeof(m.order) + m.order.head.text_bytes);
}

static bool ask_again(const struct viewer *w)
{
	return ask_for(w, 0);
}

void viewer_record(struct viewer *w)
{
	w->record = viewer_stamp();
	ask_for(w, w->record);
}

/* What another user's process says is not for our terminal. */
static char *check_owner(const struct viewer *w)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(w->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return xasprintf("session `%s': %s", w->session, strerror(errno));
	if (peer.uid == geteuid())
		return NULL;
	return xasprintf("session `%s' belongs to user %u", w->session, (unsigned)peer.uid);
}

static char *connect_to(struct viewer *w, const char *dir)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *path = xasprintf("%s/%s" SOCKET, dir, w->session), *error = NULL;

	w->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (strlen(path) >= sizeof(address.sun_path))
		error = xasprintf("%s: the path is too long for a socket", path);
	else
		strcpy(address.sun_path, path);
	if (!error && (w->fd < 0 || connect(w->fd, (struct sockaddr *)&address, sizeof(address))))
		error = xasprintf("no agent serves session `%s' on this node: %s: %s", w->session,
			path, strerror(errno));
	free(path);
	return error ? error : check_owner(w);
}

static char *connect_here(struct viewer *w, const char *session)
{
	char *error = NULL, *dir = runtime_directory(&error);

	if (dir)
		w->session = session_of(session, dir, &error);
	if (w->session)
		error = connect_to(w, dir);
	free(dir);
	return error;
}

/* Who it is both sides have proved. */
static char *connect_by_tcp(struct viewer *w, const struct viewer_place *place)
{
	char *error, *named;

	w->link =
		viewer_link_open(place->at, place->secret, place->session, MEET_S, &named, &error);
	if (!w->link)
		return error;
	w->fd = viewer_link_fd(w->link);
	w->session = xstrdup(place->session ? place->session : named[0] ? named : place->at);
	free(named);
	return NULL;
}

char *viewer_open(
	struct viewer *w, const struct viewer_place *place, int64_t period, struct where *where)
{
	char *error;

	*w = (struct viewer){.fd = -1, .period = period, .where = where, .place = *place};
	error = place->at ? connect_by_tcp(w, place) : connect_here(w, place->session);
	if (!error && !ask_again(w))
		error = xasprintf("the agent of session `%s' takes no request: %s", w->session,
			strerror(errno));
	return error;
}

static void close_connection(struct viewer *w)
{
	if (w->link)
		viewer_link_close(w->link);
	else if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	w->link = NULL;
}

void viewer_close(struct viewer *w)
{
	close_connection(w);
	free(w->session);
	*w = (struct viewer){.fd = -1};
}

/* False: the agent has ended, or hangs up without a view. */
static bool connect_anew(struct viewer *w)
{
	char *session = w->session, *error;

	if (w->anew)
		return false;
	w->anew = true;
	close_connection(w);
	w->session = NULL;
	error = w->place.at ? connect_by_tcp(w, &w->place) : connect_here(w, session);
	if (w->session)
		free(session);
	else
		w->session = session;
	free(error);
	return !error && ask_for(w, w->record); /* it may have been lost */
}

/* ---- views ------------------------------------------------------------------------------------
 */

union packet {
	struct wire_live_view view;
	struct wire_head head;
	char bytes[sizeof(struct wire_live_view) + LIVE_PACKED_MOST + WHERE_PACKED_MOST];
};

static enum viewer_news say_refused(const union packet *m, size_t bytes, char **why)
{
	const char *text = m->bytes + sizeof(m->head);

	*why = xasprintf("the agent refuses: %.*s", (int)(bytes - sizeof(m->head)), text);
	return VIEWER_REFUSED;
}

/* Also where threads are, if that is wanted; it may not be there yet. */
static const char *unpack_all(struct viewer *w, const union packet *m, struct live_view *v)
{
	const char *packed = (const char *)(&m->view + 1), *wrong;
	const size_t bytes = m->head.text_bytes, where_bytes = m->view.where_bytes;

	if (where_bytes > bytes)
		return "it is shorter than it says";
	wrong = live_unpack(v, NULL, packed, bytes - where_bytes);
	if (wrong || !w->where)
		return wrong;
	memset(w->where, 0, sizeof(*w->where));
	return where_bytes ? where_unpack(w->where, packed + bytes - where_bytes, where_bytes)
			   : NULL;
}

static enum viewer_news take_packet(
	struct viewer *w, const union packet *m, size_t bytes, struct live_view *v, char **why)
{
	const char *wrong;

	if (bytes >= sizeof(m->head) && m->head.kind == WIRE_REFUSED)
		return say_refused(m, bytes, why);
	if (bytes < sizeof(m->view) || m->head.kind != WIRE_LIVE ||
		m->head.text_bytes != bytes - sizeof(m->view))
		wrong = "it is no view";
	else if (m->view.version != WIRE_LIVE_VERSION)
		wrong = "it is of another version of vftr";
	else
		wrong = unpack_all(w, m, v);
	if (wrong) {
		*why = xasprintf("what the agent sends makes no sense: %s", wrong);
		return VIEWER_REFUSED;
	}
	w->agents = m->view.agents;
	w->patience = INT64_C(1000000) * m->view.patience_ms;
	return VIEWER_VIEW;
}

int64_t viewer_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Of the next packet, if one has come: its bytes, else news. */
static ssize_t receive_packet(
	const struct viewer *w, union packet *m, enum viewer_news *news, char **why)
{
	const ssize_t n = w->link ? viewer_link_receive(w->link, m, sizeof(*m))
				  : recv(w->fd, m, sizeof(*m), MSG_DONTWAIT);

	*news = VIEWER_NOTHING;
	if (w->link && n < 0 && n != -ENODATA && !w->anew) {
		*news = VIEWER_REFUSED;
		*why = xasprintf("the connection to the agent broke: %s",
			n == -EBADMSG || n == -EPROTO ? "what came makes no sense"
						      : strerror((int)-n));
	} else if (w->link ? n < 0 : !n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		*news = VIEWER_END;
	}
	return n;
}

enum viewer_news viewer_next(struct viewer *w, int64_t within, struct live_view *v, char **why)
{
	const int64_t until = viewer_now() + within;
	struct pollfd p = {.fd = w->fd, .events = POLLIN};
	enum viewer_news news;
	union packet *m;
	int64_t left;
	ssize_t n;

	while ((left = until - viewer_now()) > 0 && poll(&p, 1, (int)(left / 1000000) + 1) != 1)
		;
	if (!p.revents)
		return VIEWER_NOTHING;
	m = xmalloc(sizeof(*m));
	n = receive_packet(w, m, &news, why);
	if (n > 0)
		news = take_packet(w, m, (size_t)n, v, why);
	free(m);
	if (news == VIEWER_VIEW)
		w->anew = false;
	/* an agent that hangs up may have cut off a view */
	if ((news == VIEWER_END || (w->link && n == -ECONNRESET)) && connect_anew(w)) {
		if (news == VIEWER_REFUSED) {
			free(*why);
			*why = NULL;
		}
		news = VIEWER_NOTHING;
	}
	if (news == VIEWER_VIEW)
		ask_again(w); /* if it has ended meanwhile, the next time tells */
	return news;
}

bool viewer_is_complete(const struct viewer *w, const struct live_view *v)
{
	return w->agents && v->interval && v->n_all + (uint64_t)v->n_absent >= w->agents;
}

bool viewer_misses_some(const struct live_view *v)
{
	if (v->n_absent > v->n_missing && v->n_missing < LIVE_MISSING_MAX)
		return true; /* not named: behind one that is */
	return v->n_missing && v->missing[0].why == LIVE_SILENT;
}
