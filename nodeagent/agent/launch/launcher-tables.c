/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options of srun 20.02 to 24.11, of the mpirun of Open MPI 4 and 5, and of the one of
 * MPICH, Intel MPI and MVAPICH (hydra). What has no words behind it and no role is only
 * here where it could be taken for a beginning of another one.
 */
#include "nodeagent/agent/launch/launcher-options.h"

#include <stddef.h>

static const struct launcher_options srun_options[] = {
	{OPTION_NODES, WORDS_1, "nodes/N"},
	{OPTION_TASKS, WORDS_1, "ntasks/n tasks"},
	{OPTION_NODE_LIST, WORDS_1, "nodelist/w"},
	{OPTION_HOSTFILE, WORDS_1, "nodefile/F"},
	{OPTION_KEPT, WORDS_1, "exclude/x constraint/C clusters/M cluster"},
	{OPTION_RELATIVE, WORDS_1, "relative/r"},
	{OPTION_DISTRIBUTION, WORDS_1, "distribution/m"},
	{OPTION_JOB, WORDS_1, "jobid"},
	{OPTION_GROUPS, WORDS_1, "het-group pack-group"},
	{OPTION_EXPORT, WORDS_1, "export"},
	{OPTION_MPI, WORDS_1, "mpi"},
	{OPTION_KEPT, WORDS_1, "network ctrl-comm-ifhn msg-timeout"},
	{OPTION_PROGRAMS, WORDS_0, "multi-prog"},
	{OPTION_OTHER, WORDS_0, "launch-cmd"},
	{OPTION_OTHER, WORDS_1,
		"accel-bind account/A acctg-freq bb bbf bcast-exclude begin/b blrts-image "
		"chdir/D workdir cluster-constraint cnload-image comment container "
		"container-id core-spec/S cores-per-socket cpu-bind cpu_bind cpu-freq "
		"cpus-per-gpu cpus-per-task/c deadline delay-boot dependency/d epilog "
		"error/e extra extra-node-info/B geometry/g gid gpu-bind gpu-freq gpus/G "
		"gpus-per-node gpus-per-socket gpus-per-task gres gres-flags hint input/i "
		"job-name/J launcher-opts licenses/L mail-type mail-user max-exit-timeout "
		"max-threads mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincores "
		"mincpus minsockets minthreads mpi-combine ntasks-per-core ntasks-per-gpu "
		"ntasks-per-node ntasks-per-socket ntasks-per-tres tasks-per-node "
		"open-mode output/o partition/p power prefer priority profile prolog "
		"qos/q ramdisk-image reservation segment signal slurmd-debug "
		"sockets-per-node switches task-epilog task-prolog thread-spec threads/T "
		"threads-per-core time/t time-min tmp treewidth tres-bind tres-freq "
		"tres-per-job tres-per-node tres-per-socket tres-per-task uid wait/W "
		"wckey autocomplete"},
	{OPTION_OTHER, WORDS_0,
		"contiguous debugger-test disable-status/X exact help/h hold/H "
		"interactive label/l no-allocate/Z no-rotate/R overcommit/O "
		"oversubscribe/s parallel-debug preserve-env/E preserve-slurm-env quiet/Q "
		"quit-on-interrupt reboot share spread-job stepmgr test-only unbuffered/u "
		"usage use-min-nodes verbose/v version/V wait-for-children whole"},
	{OPTION_OTHER, WORDS_GLUED,
		"bcast compress exclusive external-launcher immediate/I "
		"kill-on-bad-exit/K nice oom-kill-step propagate resv-ports send-libs x11 "
		"no-kill/k overlap pty"},
	{OPTION_OTHER, WORDS_0, NULL},
};

static const struct launcher_options openmpi_options[] = {
	{OPTION_HOSTS, WORDS_1, "H host"},
	{OPTION_HOSTFILE, WORDS_1, "hostfile machinefile default-hostfile"},
	{OPTION_KEPT, WORDS_2, "mca omca gmca gomca prtemca gprtemca pmixmca gpmixmca"},
	{OPTION_KEPT, WORDS_1, "am tune prefix launch-agent personality"},
	{OPTION_KEPT, WORDS_0, "noprefix allow-run-as-root oversubscribe enable-recovery"},
	{OPTION_OTHER, WORDS_1,
		"dvm-uri np n c N x add-host add-hostfile app bind-to cpu-list cpu-set "
		"cpus-per-proc cpus-per-rank debugger display exit-delay map-by "
		"max-restarts max-vm-size mpmd npernode npersocket num-connect-retries "
		"ompi-server ornl-max-procs output output-directory output-filename "
		"output-proctable path ppr preload-files preload-files-dest-dir "
		"prtemca-params pset rank-by rankfile report-events report-pid report-uri "
		"rf runtime-options s server-wait-time slot-list stdin timeout wd wdir "
		"with-ft xml-file xterm"},
	{OPTION_OTHER, WORDS_0,
		"debug-devel get-stack-traces parsable pernode set-cwd-to-session-dir "
		"stop-in-init"},
	{OPTION_OTHER, WORDS_0, NULL},
};

static const struct launcher_options hydra_options[] = {
	{OPTION_HOSTS, WORDS_1, "hosts host H"},
	{OPTION_HOSTFILE, WORDS_1, "f hostfile machinefile machine"},
	{OPTION_KEPT, WORDS_1,
		"hosts-group launcher launcher-exec bootstrap bootstrap-exec "
		"bootstrap-exec-args iface localhost rmk"},
	{OPTION_OTHER, WORDS_1,
		"port n np ppn perhost grr envlist genvlist genvexcl gpath gwdir gumask "
		"wdir wd path umask arch soft file bind-to binding map-by membind topolib "
		"demux configfile ckpointlib ckpoint-interval ckpoint-prefix ckpoint-num "
		"errfile-pattern outfile-pattern gpus-per-proc gtool gtoolfile nameserver "
		"order-nodes prepend-pattern s timeout tmpdir usize"},
	{OPTION_OTHER, WORDS_0, "rr gdb-ia l"},
	{OPTION_OTHER, WORDS_2, "env genv"},
	{OPTION_OTHER, WORDS_0, NULL},
};

const struct launcher_options *launcher_options(enum launcher_kind kind)
{
	static const struct launcher_options *const tables[] = {
		[LAUNCHER_OPENMPI] = openmpi_options,
		[LAUNCHER_HYDRA] = hydra_options,
		[LAUNCHER_SLURM] = srun_options,
	};

	return tables[kind];
}
