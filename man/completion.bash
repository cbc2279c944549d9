# SPDX-License-Identifier: BSD-3-Clause
# Completion of vftr and vftr-node-agent for bash. Keys are asked of `vftr config list'.
# Where nothing is offered here, bash offers files (-o default), with blanks quoted.

_vftr_keys()
{
	"${1%vftr*}vftr" config list 2>/dev/null | while read -r key _; do
		echo "$key"
	done
}

_vftr_words()
{
	COMPREPLY=($(compgen -W "$1" -- "$2"))
}

_vftr()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		_vftr_words "attach collate compress config critical-path diff doctor dump efficiency export findings flags help histogram iterations models open report run show top tree waits where --help --version" "$word"
		return
	fi
	case ${COMP_WORDS[1]} in
	help)
		[ "$COMP_CWORD" = 2 ] && _vftr_words "attach collate compress config critical-path diff doctor dump efficiency export findings flags histogram iterations models open report run show top tree waits where" "$word"
		;;
	config)
		case $COMP_CWORD:$before:$word in
		*:-*) _vftr_words "--lenient -h --help" "$word" ;;
		2:*) _vftr_words "default check explain list" "$word" ;;
		3:explain:*) _vftr_words "$(_vftr_keys "$1")" "$word" ;;
		esac
		;;
	collate)
		case $before:$word in
		*:-*) _vftr_words "-o --output -c --config -b --base -h --help" "$word" ;;
		esac
		;;
	dump)
		case $before:$word in
		-r:* | --ranks:* | -f:* | --from:* | -t:* | --to:* | -R:* | --round:*) ;;
		*:-*) _vftr_words "-r --ranks -f --from -t --to -R --round -H --header -j --json -p --peers -m --mangled -h --help" "$word" ;;
		esac
		;;
	export)
		case $before:$word in
		-f:* | --format:*) _vftr_words "perfetto chrome otf2 paraver folded speedscope vfd3 sqlite" "$word" ;;
		-r:* | --ranks:* | --from:* | --to:* | --round:* | -b:* | --base:*) ;;
		*:-*)
			_vftr_words "-f --format -o --output -r --ranks --from --to --round --mangled --sum
				--profile -b --base -q --quiet -h --help" "$word"
			;;
		esac
		;;
	diff)
		case $before:$word in
		-t:* | --time:*) _vftr_words "excl incl" "$word" ;;
		-p:* | --per:*) _vftr_words "rank job" "$word" ;;
		-s:* | --sort:*) _vftr_words "diff percent significance a b calls path" "$word" ;;
		-l:* | --limit:* | -m:* | --min:* | -x:* | --fail:*) ;;
		*:-*)
			_vftr_words "-t --time -p --per -f --function -s --sort -l --limit -m --min
				-S --significant -x --fail -j --json -V --vftrace -h --help" "$word"
			;;
		esac
		;;
	efficiency)
		case $before:$word in
		-m:* | --model:*) _vftr_words "multiplicative additive" "$word" ;;
		-f:* | --function:* | -b:* | --base:*) ;;
		*:-*)
			_vftr_words "--exact -f --function -m --model -s --strong -w --weak -c --csv -j --json
				-b --base -h --help" "$word"
			;;
		esac
		;;
	critical-path)
		case $before:$word in
		-b:* | --base:* | -n:* | --rows:* | -r:* | --rank:*) ;;
		*:-*) _vftr_words "-w --waits -r --rank -n --rows -c --csv -j --json -b --base -h --help" "$word" ;;
		esac
		;;
	iterations)
		case $before:$word in
		-b:* | --base:* | -n:* | --number:*) ;;
		*:-*) _vftr_words "-n --number -c --csv -j --json -b --base -h --help" "$word" ;;
		esac
		;;
	open)
		case $before:$word in
		-b:* | --base:* | -v:* | --viewer:*) ;;
		-f:* | --format:*) _vftr_words "perfetto chrome otf2 paraver folded speedscope vfd3" "$word" ;;
		*:-*) _vftr_words "-n --no-browser -v --viewer -f --format -b --base -h --help" "$word" ;;
		esac
		;;
	waits)
		case $before:$word in
		-b:* | --base:* | -n:* | --number:* | -r:* | --rank:*) ;;
		*:-*) _vftr_words "--exact -r --rank -n --number -c --csv -j --json -b --base -h --help" "$word" ;;
		esac
		;;
	top)
		case $before:$word in
		-s:* | --session:* | -d:* | --every:* | --at:* | --secret:* | --off:* | --on:*) ;;
		*) _vftr_words "-s --session --at --secret -d --every -1 --once -j --json --off --on --pause --resume -h --help" "$word" ;;
		esac
		;;
	attach)
		case $before:$word in
		-k:* | --set:*)
			_vftr_words "$(_vftr_keys "$1")" "$word"
			;;
		-n:* | --name:* | -j:* | --job:* | -s:* | --seconds:* | --tag:*) ;;
		*:-*)
			_vftr_words "-n --name -j --job -u --user -s --seconds --no-children -o --output
				-c --config -k --set --tag -q --quiet -h --help" "$word"
			;;
		-o:* | --output:* | -c:* | --config:*) ;;
		*) _vftr_words "$(ps -u "$(id -u)" -o pid= 2>/dev/null)" "$word" ;;
		esac
		;;
	where)
		case $before:$word in
		-s:* | --session:* | -d:* | --every:* | --at:* | --secret:*) ;;
		*) _vftr_words "-s --session --at --secret -d --every --record -j --json -h --help" "$word" ;;
		esac
		;;
	compress)
		case $before:$word in
		-l:* | --level:*) ;;
		*:-*) _vftr_words "-l --level -d --decompress -u --unfinished -q --quiet -h --help" "$word" ;;
		esac
		;;
	findings)
		case $before:$word in
		-b:* | --base:*) ;;
		*:-*) _vftr_words "-c --csv -j --json -b --base -h --help" "$word" ;;
		esac
		;;
	report)
		case $before:$word in
		-b:* | --base:*) ;;
		*:-*) _vftr_words "-o --output -b --base -h --help" "$word" ;;
		esac
		;;
	histogram)
		case $before:$word in
		*:-*) _vftr_words "-s --send -r --recv -b --bytes -o --svg -h --help" "$word" ;;
		esac
		;;
	models)
		case $before:$word in
		-m:* | --metric:*) _vftr_words "time calls messages bytes" "$word" ;;
		--per:*) _vftr_words "job rank" "$word" ;;
		-p:* | --parameter:* | -a:* | --at:* | -n:* | --number:* | -b:* | --base:*) ;;
		*:-*)
			_vftr_words "-p --parameter -a --at -m --metric --per --by-path -n --number
				--extrap -c --csv -j --json -b --base -h --help" "$word"
			;;
		esac
		;;
	run) _vftr_run "$1" ;;
	show)
		case $before:$word in
		-s:* | --sort:*) _vftr_words "excl incl calls imbalance" "$word" ;;
		-F:* | --filter:* | -n:* | --number:* | -C:* | --columns:* | -b:* | --base:*) ;;
		*:-*)
			_vftr_words "-p --by-path -s --sort -F --filter -n --number -C --columns
				-c --csv -j --json -b --base -h --help" "$word"
			;;
		esac
		;;
	tree)
		case $before:$word in
		-p:* | --percent:* | -d:* | --depth:* | -f:* | --from:* | -b:* | --base:*) ;;
		*:-*)
			_vftr_words "-p --percent -d --depth -f --from -r --reverse -b --base -h --help" \
				"$word"
			;;
		esac
		;;
	doctor)
		case $before:$word in
		-c:* | --config:*) ;;
		*:-*) _vftr_words "-c --config -h --help" "$word" ;;
		*) COMPREPLY=($(compgen -c -f -- "$word")) ;;
		esac
		;;
	flags)
		case $before in
		--mpi) _vftr_words "openmpi mpich" "$word" ;;
		--cc) COMPREPLY=($(compgen -c -- "$word")) ;;
		--exclude) COMPREPLY=($(compgen -f -- "$word")) ;;
		*) _vftr_words "--cflags --cxxflags --fflags --libs --mpi --static --headers --no-headers --cc --exclude -h --help" "$word" ;;
		esac
		;;
	esac
}

# The index of COMMAND's first word, or nothing while options are typed, which begin at $1.
_vftr_command_at()
{
	local i=$1

	while [ "$i" -lt "$COMP_CWORD" ]; do
		case ${COMP_WORDS[i]} in
		--)
			echo $((i + 1))
			return
			;;
		-c | -o | -k | -s | --config | --output | --set | --session | --agent-launcher | \
			--rank | --peers | --listen | --me | --interface | --secret | --expect | --within | --on-death)
			i=$((i + 1))
			# bash splits KEY=VALUE into three words
			[ "${COMP_WORDS[i + 1]}" = "=" ] && i=$((i + 2))
			;;
		-*) ;;
		*)
			echo "$i"
			return
			;;
		esac
		i=$((i + 1))
	done
}

# Completes COMMAND; false while options are typed, which begin at $1.
_vftr_command()
{
	local word=${COMP_WORDS[COMP_CWORD]} at

	at=$(_vftr_command_at "$1")
	COMPREPLY=()
	if [ -n "$at" ]; then
		if type _command_offset >/dev/null 2>&1; then
			_command_offset "$at"
		elif [ "$at" = "$COMP_CWORD" ]; then
			COMPREPLY=($(compgen -c -- "$word"))
		else
			COMPREPLY=($(compgen -f -- "$word"))
		fi
		return 0
	fi
	return 1
}

_vftr_run()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	_vftr_command 2 && return
	case $before in
	-c | --config | -o | --output | -s | --session | --agent-launcher | --rank | --tag | \
		-F | --only | -N | --not | --depth | --time-filter | --programs) ;;
	-k | --set)
		compopt -o nospace 2>/dev/null
		COMPREPLY=($(compgen -S = -W "$(_vftr_keys "$1")" -- "$word"))
		;;
	*)
		_vftr_words "--trace --by-function --rank -F --only -N --not --depth
			--time-filter --programs --preload --preload=auto --preload=yes
			--preload=no -o --output --require-profile -c --config --lenient -k --set --tag
			-s --session --agent-launcher --in-step -q --quiet -h --help --" "$word"
		;;
	esac
}

_vftr_node_agent()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}

	_vftr_command 1 && return
	case $before in
	-c | --config | -o | --output | --secret) ;;
	--on-death) _vftr_words "keep abort" "$word" ;;
	--interface) COMPREPLY=($(compgen -W "$(ls /sys/class/net)" -- "$word")) ;;
	-k | --set)
		compopt -o nospace 2>/dev/null
		COMPREPLY=($(compgen -S = -W "$(_vftr_keys "$1")" -- "$word"))
		;;
	-s | --session | --tag | --agent-launcher | --peers | --listen | --me | --expect | --within) ;;
	*)
		_vftr_words "-c --config --lenient -o --output -k --set --tag -s --session --preload --require-profile --in-step
			--agent-launcher --peers --listen --me --interface --secret --expect --on-death
			--within --print-contact -q --quiet -h --help -V --version --" "$word"
		;;
	esac
}

# The tools of Vftrace, which are links to vftr.
_vftrace_vfd_dump()
{
	local word=${COMP_WORDS[COMP_CWORD]}

	case $word in
	-*)
		_vftr_words "--output= --only_header --skip_samples --show_threadtree --help
			--usage --version" "$word"
		;;
	esac
}

complete -o default -F _vftr vftr
complete -o default vftrace_check_config vftrace_diff_profiles
complete -o default -F _vftrace_vfd_dump vftrace_vfd_dump
complete -o default -F _vftr_node_agent vftr-node-agent
