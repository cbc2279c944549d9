/* SPDX-License-Identifier: BSD-3-Clause */
/* `vftr dump`: what is in a sampling file, whole or damaged. */
#include "nodeagent/tool/cmd.h"

#include <unistd.h>
#include <stdlib.h>

#include "nodeagent/base/util.h"
#include "nodeagent/trace/dump/text.h"

static const char usage[] =
	"usage: vftr dump [OPTION...] FILE|FOLDER\n"
	"\n"
	"Prints a sampling file, or the only one in a folder: header, threads, call paths,\n"
	"and calls and messages of each process. Of a damaged file the rest is printed.\n"
	"\n"
	"  -r, --ranks LIST only these ranks, such as 0,2-5\n"
	"  -f, --from T     only events from then on; T is in seconds since the start of\n"
	"                   the job, or with a unit: 2.5, 300ms, 40us, 7ns, 2min\n"
	"  -t, --to T       only events before then\n"
	"  -R, --round N    only events of this round of a session, from 1\n"
	"  -H, --header     no calls and messages\n"
	"  -j, --json       as JSON; see vftr-vfd(5)\n"
	"  -p, --peers      a collective or one-sided call as sends and receives with\n"
	"                   their peers, as Vftrace prints it\n"
	"  -m, --mangled    the linker's names of functions, not short ones\n"
	"  -h, --help       this text\n"
	"\n"
	"Exit status: 0 done, 1 the file is damaged or has no end, 2 nothing could be\n"
	"read, or wrong usage.\n";

/* Whether a process of these ranks is in it. */
static bool has_ranks(const char *path, const struct vfd_file *f, const struct vfd_dump *d)
{
	size_t n;
	const struct vfd_process *p = vfd_processes(f, &n);

	for (size_t i = 0; d->ranks && i < n; i++)
		if (vfd_dump_wants(d, &p[i]))
			return true;
	if (d->ranks)
		complain("%s: there are no processes of ranks %s in it", path, d->ranks);
	return !d->ranks;
}

/* Times instead of the number. */
static bool cut_round(const char *path, struct vfd_file *f, struct vfd_span *span, uint64_t round)
{
	if (!round || vfd_round_span(&f, 1, round, span))
		return true;
	complain("%s: there is no round %llu in it", path, (unsigned long long)round);
	return false;
}

static int dump_file(char *path, struct vfd_dump *d, bool json, bool mangled, uint64_t round)
{
	const struct vfd_damage *damage;
	struct vfd_file *f;
	char *error;
	size_t n;
	int status = 0;

	if (!path)
		return 2;
	f = vfd_open(path, &error);
	if (!f) {
		complain("%s", error);
		free(error);
		return 2;
	}
	if (!has_ranks(path, f, d) || !cut_round(path, f, &d->span, round)) {
		vfd_close(f);
		return 2;
	}
	if (!mangled)
		vfd_shorten_names(&f, 1);
	if (json)
		vfd_dump_json(f, d, stdout);
	else
		vfd_dump_text(f, d, stdout);
	fflush(stdout);
	damage = vfd_damage(f, &n);
	for (size_t i = 0; i < n && i < 10; i++)
		complain("%s: bytes %llu to %llu are left out: %s", path,
			(unsigned long long)damage[i].from, (unsigned long long)damage[i].to,
			damage[i].why);
	if (n > 10)
		complain("%s: and %zu more places", path, n - 10);
	if (!vfd_facts(f)->closed)
		complain("%s: it has no end: cut short, or still being written", path);
	if (n || !vfd_facts(f)->closed)
		status = 1;
	vfd_close(f);
	return status;
}

int cmd_dump(int argc, char **argv)
{
	struct vfd_dump d = {0};
	bool json = false, mangled = false;
	uint64_t round = 0;
	char *path;
	const struct cmd_option options[] = {
		{"ranks", 'r', .text = &d.ranks},
		{"from", 'f', .time = &d.span.from, .flag = &d.span.from_set},
		{"to", 't', .time = &d.span.to, .flag = &d.span.to_set},
		{"round", 'R', .take = cmd_round, .to = &round},
		{"header", 'H', .flag = &d.brief},
		{"json", 'j', .flag = &json},
		{"peers", 'p', .flag = &d.peers},
		{"mangled", 'm', .flag = &mangled},
		{0},
	};
	int status = cmd_options(argc, argv, options, usage);

	if (status >= 0)
		return status;
	if (!cmd_ranks(d.ranks) || !cmd_span("dump", &d.span, round))
		return 2;
	if (optind + 1 != argc) {
		complain("dump: name one sampling file; see vftr dump --help");
		return 2;
	}
	path = cmd_file_in(argv[optind], RESULT_SAMPLES, "HOST.vfd, BASE_HOST.vfd");
	status = dump_file(path, &d, json, mangled, round);
	free(path);
	return status;
}
