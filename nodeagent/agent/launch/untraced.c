/* SPDX-License-Identifier: BSD-3-Clause */
#include "nodeagent/agent/launch/untraced.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "nodeagent/doctor/doctor.h"
#include "nodeagent/agent/launch/launch.h"
#include "nodeagent/agent/launch/launcher-slurm.h"
#include "nodeagent/agent/launch/launcher.h"
#include "nodeagent/agent/launch/program-name.h"
#include "nodeagent/base/util.h"

/* A script of the user's, which may start programs on other nodes. */
static bool runs_script(const struct launch *l)
{
	const char *program = launcher_program(l->command);
	char path[PATH_MAX];

	return !launcher_words(l->command) && program &&
	       (is_interpreter(program) || (launcher_resolve(program, path) && is_script(path)));
}

void untraced_elsewhere(const struct launch *l)
{
	char *job;
	unsigned nodes = slurm_nodes(&job);

	if (nodes > 1 && runs_script(l))
		complain("%s has %u nodes, and %s is a script: what it starts on other nodes than "
			 "this one is not traced; in it, write srun|mpirun ... vftr-node-agent "
			 "--in-step -- PROGRAM instead",
			job, nodes, launcher_program(l->command));
	free(job);
}

bool untraced_is_off(const struct conf *conf)
{
	return conf->off || doctor_off();
}

void untraced_say_off(const struct conf *conf)
{
	if (untraced_is_off(conf))
		complain("tracing is off (%s): nothing was recorded",
			conf->off ? "off=true" : "VFTR_OFF");
}

static void say_lines(const struct diagnosis *d)
{
	for (size_t i = 0; i < d->n; i++) {
		enum finding f = d->lines[i].finding;

		if (f == FINDING_NO || f == FINDING_DO)
			complain("%s%s", f == FINDING_NO ? "  no    " : "        -> ",
				d->lines[i].text);
	}
}

/* What prevents tracing of this program. */
static void examine_program(const struct launch *l, const char *program, struct diagnosis *d)
{
	char *path = doctor_find(program);
	const char *why;

	if (access(path, F_OK)) {
		diagnose(d, FINDING_NO,
			strchr(program, '/') ? "there is no such file here"
					     : "it is neither on PATH nor in this directory");
		diagnose(d, FINDING_DO, "correct its name");
	} else if (is_interpreter(program)) {
		diagnose(d, FINDING_NO, "it runs a script, and is not compiled for tracing");
		if (l->preload && !launch_names_mpi(l))
			diagnose(d, FINDING_DO,
				"if the script starts mpirun, put vftr-node-agent before that "
				"mpirun");
		diagnose(d, FINDING_DO,
			"ask `vftr doctor' about the program that the script starts");
		if (!launch_preloads())
			diagnose(d, FINDING_DO,
				"or say --preload: that traces programs that are instrumented or "
				"use MPI");
		diagnose(d, FINDING_DO,
			"programs that are neither instrumented nor use MPI: also "
			"-k profile.sample=20");
	} else {
		why = doctor_examine(d, &(struct doctor_question){.name = program, .path = path});
		if (why)
			diagnose(d, FINDING_NO, "%s", why);
	}
	free(path);
}

void untraced_say(const struct launch *l, unsigned refused)
{
	const char *program = launcher_program(l->command), *wanted = getenv("VFTR_PROGRAMS");
	struct diagnosis d = {0};

	if (wanted && wanted[0]) {
		complain("no process of %s was traced: only programs named %s were to be "
			 "(--programs, VFTR_PROGRAMS)",
			l->command[0], wanted);
		return;
	}
	if (refused) {
		complain("no process of %s was traced: the agent has refused %u, see above",
			l->command[0], refused);
		return;
	}
	if (!program) {
		complain("no process of %s was traced; ask `vftr doctor' about its programs",
			l->command[0]);
		return;
	}
	if (launch_preloads())
		setenv("LD_PRELOAD", launch_preloads(), 1);
	examine_program(l, program, &d);
	if (d.refused) {
		complain("no process of %s was traced. `vftr doctor %s' says:", l->command[0],
			program);
		say_lines(&d);
	} else {
		complain("no process of %s was traced, although `vftr doctor %s' finds nothing "
			 "that prevents it: was %s started?",
			l->command[0], program, program);
	}
	diagnosis_free(&d);
}
