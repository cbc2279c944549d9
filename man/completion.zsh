#compdef vftr vftr-node-agent vftrace_vfd_dump vftrace_check_config vftrace_diff_profiles vftrace_generate_default_config
# SPDX-License-Identifier: BSD-3-Clause
# Completion of vftr and vftr-node-agent for zsh. Subcommands, options and formats are what the
# programs' own --help says, keys are asked of `vftr config list'. `make install' puts it into
# PREFIX/share/zsh/site-functions/_vftr; a folder of $fpath, before compinit.

# COMMAND...: a line "SHORT:LONG:ARGUMENT:TEXT" for each option in what it prints
_vftr_help_options()
{
	"$@" 2>/dev/null | awk '/^ +(-., )?--[a-z]/ {
		short = ""
		sub(/^ +/, "")
		if ($0 ~ /^-., /) {
			short = substr($0, 2, 1)
			$0 = substr($0, 5)
		}
		match($0, /^--[a-z_-]+/)
		long = substr($0, 1, RLENGTH)
		$0 = substr($0, RLENGTH + 1)
		argument = match($0, /^(\[=[A-Z]+\]|[= ][A-Z][A-Z:=,.|]*|[= ][a-z]+\|[a-z|]+)/) ? substr($0, 1, RLENGTH) : ""
		$0 = substr($0, RLENGTH > 0 ? RLENGTH + 1 : 1)
		sub(/^ +/, "")
		gsub(/:/, " -")
		gsub(/:/, "-", argument)
		print short ":" long ":" argument ":" $0
	}'
}

# COMMAND...: "NAME:TEXT" for each line of a list in what it prints, indented by $indent blanks
_vftr_help_list()
{
	"$@" 2>/dev/null | awk -v indent=$indent '{
		match($0, /^ */)
		if (RLENGTH != indent || $1 !~ /^[a-z][a-z0-9-]*$/ || NF < 2)
			next
		name = $1
		sub(/^ *[^ ]+ +([A-Z]+ +)?/, "")
		gsub(/:/, " -")
		print name ":" $0
	}'
}

# a described list of KIND, as the command prints it
_vftr_list()
{
	local kind=$1
	local -a found
	shift
	found=(${(f)"$(_vftr_help_list "$@")"})
	_describe -t $kind $kind found
}

_vftr_subcommands()
{
	local indent=2
	_vftr_list subcommand $vftr help
}

_vftr_formats()
{
	local indent=2
	_vftr_list format $vftr export --help
}

_vftr_keys()
{
	local -a keys
	keys=(${${(f)"$($vftr config list 2>/dev/null)"}%% *})
	if [[ $1 = = ]]; then
		compset -P '*=' && return 1
		compadd -S = -- $keys
	else
		compadd -- $keys
	fi
}

# what stands after an option, or nothing that is known
_vftr_value()
{
	case $1 in
	--format) _vftr_formats ;;
	--time) compadd excl incl ;;
	--per) compadd rank job ;;
	--sort)
		if [[ $words[1] = show ]]; then
			compadd excl incl calls imbalance
		else
			compadd diff percent significance a b calls path
		fi
		;;
	--model) compadd multiplicative additive ;;
	--metric) compadd time calls messages bytes ;;
	--mpi) compadd openmpi mpich ;;
	--on-death) compadd keep abort ;;
	--set) _vftr_keys = ;;
	--cc | --agent-launcher) _command_names -e ;;
	--interface) compadd /sys/class/net/*(N:t) ;;
	--config) _files -g '*.json(-.)' ;;
	--output | --secret | --svg | --extrap | --print-contact) _files ;;
	*) _message $1 ;;
	esac
}

# specs: for _arguments, from what COMMAND... prints
_vftr_specs()
{
	local short long argument text spec line

	specs=()
	for line in ${(f)"$(_vftr_help_options "$@")"}; do
		IFS=: read -r short long argument text <<<$line
		text=${text//(#m)[][]/\\$MATCH}
		spec="[$text]"
		case $argument in
		'') ;;
		'[='*) spec="=-$spec::${argument//[][=]/}:{ _vftr_value $long }" ;;
		*) spec="=$spec:${argument# }:{ _vftr_value $long }" ;;
		esac
		if [[ -n $short && $short != '?' ]]; then
			specs+=("($long)-$short${spec/#=/+}" "(-$short)$long$spec")
		else
			specs+=("$long$spec")
		fi
	done
}

_vftr_subcommand()
{
	local -a specs

	_vftr_specs $vftr $1 --help
	case $1 in
	config)
		local indent=3
		case $words[2] in
		check) _arguments -S $specs ':action:' '*:file:_files -g "*.json(-.)"' ;;
		explain) _arguments -S $specs ':action:' ':key:_vftr_keys' ;;
		*) _arguments -S $specs ':action:{ _vftr_list action $vftr config --help }' ;;
		esac
		;;
	help) _arguments ':subcommand:_vftr_subcommands' ;;
	attach) _arguments -S $specs '*:process:_pids' ;;
	top | where) _arguments -S $specs ;;
	collate) _arguments -S $specs '*:node profile or folder:_files -g "*.vfp(-.)"' ;;
	dump) _arguments -S $specs '*:sampling file:_files -g "*.vfd(-.)"' ;;
	export | critical-path) _arguments -S $specs '*:sampling file or folder:_files -g "*.vfd(-.)"' ;;
	histogram) _arguments -S $specs '*:profile:_files -g "(profile.json|*(_all.json|.vfp))(-.)"' ;;
	diff) _arguments -S $specs '*:profile, log or folder:_files -g "(profile.json|*(_all.json|.log|.vfp))(-.)"' ;;
	doctor) _arguments -S $specs ':program:{ _command_names -e || _files }' ;;
	*) _arguments -S $specs '*:file:_files' ;;
	esac
}

_vftr_tool()
{
	local state line

	_arguments -C '(- *)--help[what there is]' '(- *)--version[the version]' \
		'1: :->subcommand' '*:: :->arguments'
	case $state in
	subcommand) _vftr_subcommands ;;
	arguments) _vftr_subcommand $words[1] ;;
	esac
}

_vftr_node_agent()
{
	local -a specs

	_vftr_specs $words[1] --help
	_arguments -S $specs '(-)1:command:{ _command_names -e }' '*::argument:{ _normal }'
}

_vftr()
{
	# the vftr beside what is typed, ~ and all
	local vftr=${(e)~${words[1]%vftr*}}vftr
	local -a specs

	case $service in
	vftr) _vftr_tool ;;
	vftr-node-agent) _vftr_node_agent ;;
	vftrace_vfd_dump)
		_vftr_specs $words[1] --help
		_arguments -S $specs '*:sampling file:_files -g "*.vfd(-.)"'
		;;
	vftrace_generate_default_config) _message 'no argument' ;;
	*) _files ;;
	esac
}

_vftr "$@"
