#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Several "nodes" on one machine. Each has its own network, host name, IPC,
# mounts and pids, its own /dev/shm and its own runtime directory of vftr; they
# hang on a bridge that belongs to the set, so that sets do not meet.
#
#	nodes.sh up N [DIR]             node1..nodeN; state in DIR
#	nodes.sh run [DIR] NODE CMD...  CMD in a node, in this directory
#	nodes.sh mpirun DIR [SLOTS [NODE...]]
#	                                print the mpirun of Open MPI for them
#	nodes.sh with N CMD...          up, CMD with $NODES set, down; also
#	                                without root, where user namespaces are
#	nodes.sh down [DIR]             remove every trace of the set
#
# DIR defaults to $NODES, then /tmp/vftr-nodes-UID. DIR/rsh is the remote shell
# for launchers. Exit status 77: this machine cannot have pseudo-nodes, and why.
set -u

me=$(cd "$(dirname "$0")" && pwd)/${0##*/}
default=${NODES:-/tmp/vftr-nodes-$(id -u)}

fail() {
	echo "nodes.sh: $*" >&2
	exit 1
}

cannot() {
	echo "nodes.sh: no pseudo-nodes here: $*" >&2
	exit 77
}

# ---- up -----------------------------------------------------------------------

# The bridge's name is the lock: whoever can create it owns 10.77.X.0/24.
claim_bridge() {
	x=0
	while [ $x -lt 256 ]; do
		if ! ip -o addr | grep -q " 10\.77\.$x\." &&
			error=$(ip link add "vftr$x" type bridge 2>&1); then
			return 0
		fi
		x=$((x + 1))
		case ${error:-exists} in *exists*) ;; *) cannot "ip link add: $error" ;; esac
	done
	fail "all of 10.77.X.0/24 are taken"
}

# First process of a node, run inside: sets it up, then waits and reaps.
node_main() {
	name=$1
	dir=$2
	hostname "$name" || exit 1
	mount -t tmpfs -o mode=1777 tmpfs /dev/shm || exit 1
	mount --bind "$dir/hosts" /etc/hosts || exit 1
	while read -r private; do
		mount -t tmpfs -o mode=0700 tmpfs "$private" || exit 1
	done <"$dir/private"
	ip link set lo up || exit 1
	echo ok >"$dir/$name.ready"
	trap '' HUP INT TERM
	# a shell in wait reaps every orphan that comes its way
	while :; do
		sleep 86400 &
		wait $!
	done
}

start_node() {
	k=$1
	name=node$k
	rm -f "$dir/$name.ready"
	unshare --net --uts --ipc --mount --pid --fork --kill-child --mount-proc \
		sh "$me" _node "$name" "$dir" </dev/null >"$dir/$name.log" 2>&1 &
	outer=$!
	echo "$outer 0" >"$dir/$name.pid"
	tries=0
	until [ -e "$dir/$name.ready" ]; do
		tries=$((tries + 1))
		kill -0 $outer 2>/dev/null && [ $tries -lt 1500 ] ||
			cannot "$(tail -n 1 "$dir/$name.log")"
		sleep 0.02
	done
	read -r inner <"/proc/$outer/task/$outer/children"
	inner=${inner%% *}
	echo "$outer $inner" >"$dir/$name.pid"
	ip link add "vftr$x.$k" type veth peer name eth0 netns "$inner" &&
		ip link set "vftr$x.$k" master "vftr$x" up &&
		nsenter -t "$inner" -n ip addr add "10.77.$x.$k/24" dev eth0 &&
		nsenter -t "$inner" -n ip link set eth0 up ||
		fail "cannot connect $name"
}

write_rsh() {
	# what lib.sh has set: of the environment nothing else goes to a node
	lean=$(env | grep -e '^HWLOC_' -e '^PMIX_MCA_' | sed "s/.*/'&'/" | tr '\n' ' ')
	cat >"$dir/rsh" <<-END
		#!/bin/sh
		# rsh [options] HOST COMMAND...: what ssh does, into a node of $dir
		while :; do
			case \${1-} in
			-[BbcDEeFIiJLlmOopQRSWw]) shift 2 ;;
			-*) shift ;;
			*) break ;;
			esac
		done
		host=\${1#*@}
		shift
		[ -r "$dir/\$host.pid" ] || { echo "rsh: no node \$host" >&2; exit 255; }
		read -r _ inner <"$dir/\$host.pid"
		# who waits in Open MPI gives up its processor, as with lib/mpirun.openmpi
		idle=${BUILD:+$BUILD/t/lib/yield-idle.so}
		[ -z "\$TEST_RANKS_AWAKE" ] && [ -e "\$idle" ] || idle=
		exec nsenter -t "\$inner" -m -u -i -n -p -r --wd="\$PWD" -- env -i HOME="\$HOME" \\
			PATH="\$PATH" SHELL=/bin/sh USER="\${USER:-root}" LC_ALL=C \\
			$lean \\
			\${idle:+LD_PRELOAD="\$idle"} /bin/sh -c "\$*"
	END
	chmod +x "$dir/rsh"
}

up() {
	n=${1:-}
	case $n in '' | *[!0-9]*) fail "up: how many nodes?" ;; esac
	[ "$n" -ge 1 ] && [ "$n" -le 200 ] || fail "up: 1 to 200 nodes, not $n"
	mkdir -p "$dir" || exit 1
	dir=$(cd "$dir" && pwd)
	[ ! -e "$dir/set" ] || fail "$dir holds a set already; take it down first"
	[ "$(id -u)" = 0 ] || cannot "neither root nor inside \`nodes.sh with'"
	for c in ip unshare nsenter; do
		command -v $c >/dev/null || cannot "no $c"
	done
	trap 'status=$?; trap - EXIT; [ $status = 0 ] || (down); exit $status' EXIT
	claim_bridge
	echo "$x" >"$dir/set"
	ip addr add "10.77.$x.254/24" dev "vftr$x" && ip link set "vftr$x" up ||
		fail "cannot set up the bridge vftr$x"
	{
		echo "127.0.0.1 localhost"
		echo "10.77.$x.254 head"
		seq "$n" | sed "s/.*/10.77.$x.& node&/"
	} >"$dir/hosts"
	{
		echo "/tmp/vftr-$(id -u)"
		[ -z "${VFTR_RUNTIME_DIR:-}" ] || echo "$VFTR_RUNTIME_DIR"
		[ -z "${XDG_RUNTIME_DIR:-}" ] || echo "$XDG_RUNTIME_DIR/vftr"
	} | sort -u >"$dir/private"
	while read -r private; do
		mkdir -p -m 700 "$private" || exit 1
	done <"$dir/private"
	write_rsh
	for k in $(seq "$n"); do
		start_node "$k"
	done
}

# ---- the rest --------------------------------------------------------------------

# A pid may have been given to someone else since: look before killing.
is_ours() {
	{ tr "\0" " " <"/proc/$1/cmdline"; } 2>/dev/null | grep -F "_node node" |
		grep -qF "$dir"
}

down() {
	[ -d "$dir" ] || return 0
	dir=$(cd "$dir" && pwd)
	for f in "$dir"/node*.pid; do
		[ -e "$f" ] || continue
		read -r outer inner <"$f"
		for p in "$inner" "$outer"; do
			[ "$p" -gt 1 ] && is_ours "$p" && kill -9 "$p" 2>/dev/null
		done
	done
	if [ -r "$dir/set" ]; then
		read -r x <"$dir/set"
		for f in "$dir"/node*.pid; do
			[ -e "$f" ] || continue
			k=${f##*/node}
			ip link del "vftr$x.${k%.pid}" 2>/dev/null
		done
		ip link del "vftr$x" 2>/dev/null
	fi
	# what we made, and nothing else that may lie there
	rm -rf "$dir/ompi" "$dir"/job.*
	rm -f "$dir"/node*.pid "$dir"/node*.ready "$dir"/node*.log "$dir"/hosts \
		"$dir"/private "$dir"/rsh "$dir"/set
	rmdir "$dir" 2>/dev/null
	return 0
}

run_in() {
	[ -r "$dir/$1.pid" ] || fail "no node $1 in $dir"
	read -r _ inner <"$dir/$1.pid"
	shift
	exec nsenter -t "$inner" -m -u -i -n -p -r --wd="$PWD" -- "$@"
}

print_mpirun() {
	dir=$(cd "$dir" 2>/dev/null && pwd) && [ -r "$dir/set" ] || fail "no set of nodes"
	slots=${1:-2}
	[ $# = 0 ] || shift
	[ $# -gt 0 ] || set -- $(sed -n 's/.* \(node.*\)/\1/p' "$dir/hosts")
	read -r x <"$dir/set"
	job=$(mktemp -d "$dir/job.XXXXXX") || exit 1
	hosts=
	for h; do
		hosts=$hosts${hosts:+,}$h:$slots
	done
	net=10.77.$x.0/24
	echo "mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent $dir/rsh" \
		"--mca oob_tcp_if_include $net --mca btl_tcp_if_include $net" \
		"--mca btl_vader_single_copy_mechanism none --mca orte_tmpdir_base $job" \
		"--oversubscribe --bind-to none -H $hosts"
}

may_unshare() {
	unshare $user --net --mount --pid --fork --mount-proc \
		ip link add vftr-may type bridge 2>&1
}

with() {
	n=$1
	shift
	command -v unshare >/dev/null || cannot "no unshare"
	# root in a container may lack the right, where users of their own may have it
	user=
	[ "$(id -u)" = 0 ] && may_unshare >/dev/null || user="--user --map-root-user"
	why=$(may_unshare) || cannot "$(echo "$why" | head -n 1)"
	exec unshare $user --net --mount --pid --fork --kill-child --mount-proc \
		sh "$me" _with "$n" "$@"
}

inside_with() {
	n=$1
	shift
	ip link set lo up
	dir=$(mktemp -d "${TMPDIR:-/tmp}/vftr-nodes.XXXXXX") || exit 1
	NODES=$dir
	export NODES
	(up "$n") || exit $?
	"$@"
	status=$?
	down
	exit $status
}

verb=${1:-}
[ $# = 0 ] || shift
dir=$default
case $verb in
up) [ $# -lt 2 ] || dir=$2; up "${1:-}" ;;
down) [ $# -lt 1 ] || dir=$1; down ;;
run)
	case ${1:-} in */*) dir=$1; shift ;; esac
	[ $# -ge 2 ] || fail "run: which node, and what?"
	run_in "$@"
	;;
mpirun)
	case ${1:-} in */*) dir=$1; shift ;; esac
	print_mpirun "$@"
	;;
with)
	[ $# -ge 2 ] || fail "with: how many nodes, and what?"
	with "$@"
	;;
_with) inside_with "$@" ;;
_node) node_main "$@" ;;
*) sed -n 's/^# \{0,1\}//; 3,/^set -u/{/^set -u/!p}' "$0" >&2; exit 2 ;;
esac
