#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A real Slurm on a set of pseudo-nodes (nodes.sh): munged and slurmctld on this
# side of the set's bridge, which is the login node; a slurmd in each node.
#
#	slurm.sh up DIR [cgroup] [LINE...]   DIR: the set's folder; LINEs are added to
#	                                     slurm.conf
#	slurm.sh run DIR NODE CMD...         CMD in a node, as its Slurm client
#	slurm.sh down DIR                    what up started; nodes.sh down ends the rest
#
# Clients need SLURM_CONF=DIR/slurm/slurm.conf. With the word cgroup, Slurm follows
# and ends its steps by control groups, as production sites do: each node sees a
# group of its own as the root. Ports, keys and control groups belong to the set,
# so that sets do not meet; nor agents of other tests, which listen below 31000.
# Exit status 77: impossible here, and why.
set -u

here=$(cd "$(dirname "$0")" && pwd)

cannot() {
	echo "slurm.sh: no Slurm here: $*" >&2
	exit 77
}

fail() {
	echo "slurm.sh: $*" >&2
	exit 1
}

in_node() { # NODE CMD...
	sh "$here/nodes.sh" run "$dir" "$@"
}

nodes() {
	sed -n 's/.* \(node.*\)/\1/p' "$dir/hosts"
}

# ---- up -----------------------------------------------------------------------

check() {
	for c in slurmctld slurmd srun sbatch munged mungekey nsenter; do
		command -v $c >/dev/null || cannot "no $c"
	done
	[ "$(id -u)" = 0 ] || cannot "not root"
	# a job's step changes to its user and groups
	awk '$3 < 65536 { few = 1 } END { exit !few }' /proc/self/uid_map &&
		cannot "too few users in this user namespace"
	return 0
}

start_munge() {
	mungekey -c -k "$state/munge.key" || cannot "mungekey fails"
	munged --force --foreground --key-file "$state/munge.key" --socket "$state/munge.socket" \
		--pid-file "$state/munge.own-pid" --log-file "$state/log/munge" \
		--seed-file "$state/munge.seed" </dev/null >"$state/log/munged" 2>&1 &
	echo $! >"$state/munged.pid"
}

write_conf() { # LINE...
	cat <<-END
		ClusterName=vftr$x
		SlurmctldHost=$(hostname | cut -d. -f1)(10.77.$x.254)
		SlurmctldPort=$((31000 + x * 2))
		SlurmdPort=$((31001 + x * 2))
		SlurmUser=root
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$state/munge.socket
		StateSaveLocation=$state/ctld
		SlurmdSpoolDir=$state/spool/%n
		SlurmctldPidFile=$state/slurmctld.own-pid
		SlurmdPidFile=$state/slurmd.%n.own-pid
		TmpFS=$state/tmp/%n
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		DefMemPerCPU=500
		SlurmdParameters=config_overrides
		JobAcctGatherType=jobacct_gather/none
		MpiDefault=none
		MailProg=/bin/true
		PropagateResourceLimits=NONE
		ReturnToService=2
		SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
		$(sed -n 's/^\(10.77.*\) \(node.*\)/NodeName=\2 NodeAddr=\1 CPUs=8 RealMemory=16000/p' "$dir/hosts")
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
	END
	if [ $cgroup ]; then
		echo "ProctrackType=proctrack/cgroup"
		echo "TaskPlugin=task/cgroup"
	else
		echo "ProctrackType=proctrack/linuxproc"
		echo "TaskPlugin=task/none"
	fi
	[ ! -e "$state/prolog" ] || echo "TaskProlog=$state/prolog"
	for line; do
		echo "$line"
	done
}

# Ranks that wait give up their processor, as with the launchers of lib/
write_prolog() {
	idle=${BUILD:+$BUILD/t/lib}
	[ -e "$idle/yield-idle.so" ] && [ -e "$idle/ucx-idle.so" ] || return 0
	cat >"$state/prolog" <<-END
		#!/bin/sh
		[ "\$TEST_RANKS_AWAKE" ] ||
			echo "export LD_PRELOAD=\${LD_PRELOAD:+\$LD_PRELOAD:}$idle/yield-idle.so:$idle/ucx-idle.so"
	END
	chmod +x "$state/prolog"
}

write_cgroup_conf() {
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then version=v2; else version=v1; fi
	cat <<-END
		CgroupPlugin=cgroup/$version
		CgroupMountpoint=/sys/fs/cgroup
		IgnoreSystemd=yes
		ConstrainRAMSpace=yes
		ConstrainCores=no
	END
}

# The folders of control groups that belong to a node: one per hierarchy.
groups_of() { # NODE
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
		echo "/sys/fs/cgroup/vftr$x-$1"
	else
		for c in freezer memory cpuset devices cpuacct; do
			[ -d /sys/fs/cgroup/$c ] && echo "/sys/fs/cgroup/$c/vftr$x-$1"
		done
	fi
	return 0
}

# Its own group becomes what the node sees as the hierarchy's root.
give_groups() { # NODE
	groups_of "$1" | while read -r group; do
		mkdir -p "$group" || exit 1
		case $group in
		*/cpuset/*)
			for f in cpuset.cpus cpuset.mems; do
				cat "${group%/*}/$f" >"$group/$f" || exit 1
			done
			;;
		*/cgroup/vftr*)
			for c in $(cat "$group/cgroup.controllers"); do
				echo "+$c" >"$group/cgroup.subtree_control"
			done
			;;
		esac
		in_node "$1" mount --bind "$group" "${group%/*}" || exit 1
	done 2>>"$state/log/cgroup" || cannot "control groups: $(tail -n 1 "$state/log/cgroup")"
}

start_slurmd() { # NODE
	mkdir -p "$state/spool/$1" "$state/tmp/$1"
	[ ! $cgroup ] || give_groups "$1"
	in_node "$1" slurmd -D -N "$1" -f "$state/slurm.conf" </dev/null \
		>"$state/log/slurmd.$1" 2>&1 &
	echo $! >"$state/slurmd.$1.pid"
}

# The line that says why it did not come, from one of the daemons' logs.
why_not() {
	cat "$state"/log/* | grep -i 'fatal\|error' | tail -n 1
}

wait_until_idle() {
	wanted=$(nodes | wc -l)
	tries=0
	until [ "$(sinfo -h -t idle -o %D 2>/dev/null)" = "$wanted" ]; do
		tries=$((tries + 1))
		for f in "$state"/*.pid; do
			kill -0 "$(cat "$f")" 2>/dev/null ||
				cannot "$(basename "$f" .pid) ended: $(why_not)"
		done
		[ $tries -lt 600 ] || fail "the nodes do not come: $(why_not)"
		sleep 0.2
	done
}

up() {
	cgroup=
	[ "${1:-}" != cgroup ] || { cgroup=yes; shift; }
	check
	[ -r "$dir/set" ] || fail "no set of nodes in $dir"
	read -r x <"$dir/set"
	state=$dir/slurm
	[ ! -e "$state" ] || fail "$state is there; take it down first"
	mkdir -p "$state/ctld" "$state/log" "$state/spool" "$state/tmp"
	trap 'status=$?; trap - EXIT; [ $status = 0 ] || (down); exit $status' EXIT
	start_munge
	write_prolog
	write_conf "$@" >"$state/slurm.conf"
	[ ! $cgroup ] || write_cgroup_conf >"$state/cgroup.conf"
	SLURM_CONF=$state/slurm.conf
	export SLURM_CONF
	tries=0
	until [ -S "$state/munge.socket" ]; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] || cannot "munged: $(tail -n 1 "$state/log/munged")"
		sleep 0.02
	done
	slurmctld -D -f "$state/slurm.conf" </dev/null >"$state/log/slurmctld" 2>&1 &
	echo $! >"$state/slurmctld.pid"
	tries=0
	until scontrol ping 2>/dev/null | grep -q 'is UP'; do
		tries=$((tries + 1))
		[ $tries -lt 1500 ] && kill -0 "$(cat "$state/slurmctld.pid")" 2>/dev/null ||
			cannot "slurmctld: $(why_not)"
		sleep 0.02
	done
	for node in $(nodes); do
		start_slurmd "$node"
	done
	wait_until_idle
}

# ---- the rest --------------------------------------------------------------------

# Removes a control group and what is below it, once what runs there is killed.
remove_group() {
	[ -d "$1" ] || return 0
	tries=0
	while [ $tries -lt 100 ]; do
		find "$1" -depth -type d | while read -r g; do
			[ ! -e "$g/freezer.state" ] || echo THAWED >"$g/freezer.state"
			for p in $(cat "$g/cgroup.procs"); do
				[ "$p" -gt 1 ] && kill -9 "$p"
			done
			rmdir "$g"
		done 2>/dev/null
		[ -d "$1" ] || return 0
		tries=$((tries + 1))
		sleep 0.05
	done
	echo "slurm.sh: $1 stays" >&2
}

down() {
	state=$dir/slurm
	[ -d "$state" ] || return 0
	# the daemons by the folder that their command lines name; jobs end with their nodes
	for signal in TERM KILL; do
		tries=0
		while p=$(pgrep -f -- " $state/(slurm.conf|munge.key)") && [ $tries -lt 60 ]; do
			[ $tries -gt 0 ] || kill -$signal $p 2>/dev/null
			tries=$((tries + 1))
			sleep 0.05
		done
	done
	if [ -e "$state/cgroup.conf" ]; then
		read -r x <"$dir/set"
		for node in $(nodes); do
			groups_of "$node" | while read -r group; do
				in_node "$node" umount "${group%/*}" 2>/dev/null
				remove_group "$group"
			done
		done
	fi
	rm -rf "$state"
}

verb=${1:-}
dir=${2:-}
[ $# -ge 2 ] && shift 2
case $verb in
up | run | down) [ -d "$dir" ] && dir=$(cd "$dir" && pwd) || fail "no folder $dir" ;;
esac
case $verb in
up) up "$@" ;;
run)
	SLURM_CONF=$dir/slurm/slurm.conf
	export SLURM_CONF
	in_node "$@"
	;;
down) down ;;
*) sed -n 's/^# \{0,1\}//; 3,/^set -u/{/^set -u/!p}' "$0" >&2; exit 2 ;;
esac
