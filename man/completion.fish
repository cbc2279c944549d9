# SPDX-License-Identifier: BSD-3-Clause
# Completion of vftr and vftr-node-agent for fish. Subcommands, options and formats are what the
# programs' own --help says when this is loaded; keys are asked of `vftr config list'.
# `make install' puts it into PREFIX/share/fish/vendor_completions.d.

# The program of this name beside what is typed, or that of $PATH.
function __vftr_program
	set -l typed (commandline -opc)[1]
	set -l beside (string replace -r '[^/]*$' '' -- "$typed")$argv[1]
	if string match -q '*/*' -- "$typed"; and test -x "$beside"
		echo $beside
	else
		command -s $argv[1]
	end
end

# of a help: for each option a line with its letter, its name, argument and text, by tabs
function __vftr_help_options
	awk '/^ +(-., )?--[a-z]/ {
		short = ""
		sub(/^ +/, "")
		if ($0 ~ /^-., /) {
			short = substr($0, 2, 1)
			$0 = substr($0, 5)
		}
		match($0, /^--[a-z_-]+/)
		long = substr($0, 3, RLENGTH - 2)
		$0 = substr($0, RLENGTH + 1)
		argument = match($0, /^(\[=[A-Z]+\]|[= ][A-Z][A-Z:=,.|]*|[= ][a-z]+\|[a-z|]+)/) ? substr($0, 1, RLENGTH) : ""
		$0 = substr($0, RLENGTH > 0 ? RLENGTH + 1 : 1)
		sub(/^ +/, "")
		print short "\t" long "\t" argument "\t" $0
	}'
end

# INDENT: names and texts of a list in a help that is so far indented
function __vftr_help_list
	awk -v indent=$argv[1] '{
		match($0, /^ */)
		if (RLENGTH != indent || $1 !~ /^[a-z][a-z0-9-]*$/ || NF < 2)
			next
		name = $1
		sub(/^ *[^ ]+ +([A-Z]+ +)?/, "")
		print name "\t" $0
	}'
end

function __vftr_subcommands
	set -l vftr (__vftr_program vftr); and $vftr help 2>/dev/null | __vftr_help_list 2
end

function __vftr_formats
	set -l vftr (__vftr_program vftr); and $vftr export --help 2>/dev/null | __vftr_help_list 2
end

function __vftr_actions
	set -l vftr (__vftr_program vftr); and $vftr config --help 2>/dev/null | __vftr_help_list 3
end

# what stands after each key: nothing, or =
function __vftr_keys
	set -l vftr (__vftr_program vftr); and $vftr config list 2>/dev/null | string replace -r ' +' "$argv[1]\t"
end

# ENDING...: folders, and files whose names end so
function __vftr_files
	for ending in $argv
		__fish_complete_suffix $ending | string match -r '^.*(?:/|'(string escape --style=regex -- $ending)')(?:\t.*)?$'
	end
end

function __vftr_orders
	if __vftr_is show
		string split ' ' 'excl incl calls imbalance'
	else
		string split ' ' 'diff percent significance a b calls path'
	end
end

# LONG: how the argument of this option is completed
function __vftr_value
	switch $argv[1]
		case format
			echo '(__vftr_formats)'
		case time
			echo 'excl incl'
		case per
			echo 'rank job'
		case sort
			echo '(__vftr_orders)'
		case model
			echo 'multiplicative additive'
		case metric
			echo 'time calls messages bytes'
		case mpi
			echo 'openmpi mpich'
		case on-death
			echo 'keep abort'
		case set
			echo '(__vftr_keys =)'
		case cc agent-launcher
			echo '(__fish_complete_command)'
		case interface
			echo '(command ls /sys/class/net)'
	end
end

# COMMAND CONDITION: registers the options in the help that is read
function __vftr_register
	__vftr_help_options | while read -l line
		set -l option (string split \t -- $line)
		set -l how -c $argv[1] -l $option[2] -d $option[4]
		set -q argv[2]; and set -a how -n $argv[2]
		test -n "$option[1]" -a "$option[1]" != '?'; and set -a how -s $option[1]
		switch $option[3]
			case '' '\[=*'
			case '*'
				set -l value (__vftr_value $option[2])
				if test -n "$value"
					set -a how -x -a $value
				else if contains $option[2] config extrap output secret svg
					set -a how -r -F
				else
					set -a how -x
				end
		end
		complete $how
	end
end

# true while no subcommand is typed
function __vftr_is_first
	test (count (commandline -opc)) -eq 1
end

# WORD...: the subcommand is one of these; PLACE: so many words are typed
function __vftr_is
	contains -- (commandline -opc)[2] $argv
end

function __vftr_at
	test (count (commandline -opc)) -eq $argv[1]
end

# the options of vftr-node-agent end here: a command follows
function __vftr_is_command
	set -l words (commandline -opc)
	set -e words[1]
	while set -q words[1]
		switch $words[1]
			case --
				return 0
			case -c -o -k -s --config --output --set --session --agent-launcher --peers --listen \
				--me --interface --secret --expect --within --on-death
				set -e words[1]
			case '-*'
			case '*'
				return 0
		end
		set -e words[1]
	end
	return 1
end

function __vftr_command
	set -l words (commandline -opc)
	set -l rest
	set -l at (contains -i -- -- $words)
	test -n "$at"; and set rest $words[(math $at + 1)..]
	complete -C (string join -- ' ' (string escape -- $rest) (commandline -ct))
end

set -l vftr (__vftr_program vftr)
complete -c vftr -n __vftr_is_first -f -a '(__vftr_subcommands)'
complete -c vftr -n __vftr_is_first -l help -d 'what there is'
complete -c vftr -n __vftr_is_first -l version -d 'the version'
complete -c vftr -n '__vftr_is help; and __vftr_at 2' -f -a '(__vftr_subcommands)'
complete -c vftr -n '__vftr_is config; and __vftr_at 2' -f -a '(__vftr_actions)'
complete -c vftr -n '__vftr_is config; and __vftr_at 3; and contains explain (commandline -opc)' -f -a '(__vftr_keys)'
complete -c vftr -n '__vftr_is config; and contains check (commandline -opc)' -f -a '(__vftr_files .json)'
complete -c vftr -n '__vftr_is collate' -f -a '(__vftr_files .vfp)'
complete -c vftr -n '__vftr_is dump export critical-path' -f -a '(__vftr_files .vfd)'
complete -c vftr -n '__vftr_is histogram' -f -a '(__vftr_files profile.json _all.json .vfp)'
complete -c vftr -n '__vftr_is diff' -f -a '(__vftr_files profile.json _all.json .log .vfp)'
complete -c vftr -n '__vftr_is doctor' -a '(__fish_complete_command)'
complete -c vftr -n '__vftr_is attach' -f -a '(__fish_complete_pids)'
complete -c vftr -n '__vftr_is flags help top where' -f
if test -n "$vftr"
	for sub in ($vftr help 2>/dev/null | __vftr_help_list 2 | string replace -r '\t.*' '')
		$vftr $sub --help 2>/dev/null </dev/null | __vftr_register vftr "__vftr_is $sub"
	end
end

set -l agent (__vftr_program vftr-node-agent)
test -n "$agent"; and $agent --help 2>/dev/null | __vftr_register vftr-node-agent 'not __vftr_is_command'
complete -c vftr-node-agent -n 'not __vftr_is_command' -f -a '(__fish_complete_command)'
complete -c vftr-node-agent -n __vftr_is_command -f -a '(__vftr_command)'

set -l dump (__vftr_program vftrace_vfd_dump)
test -n "$dump"; and $dump --help 2>/dev/null | __vftr_register vftrace_vfd_dump
complete -c vftrace_vfd_dump -f -a '(__vftr_files .vfd)'
complete -c vftrace_check_config -f -a '(__vftr_files .json)'
complete -c vftrace_diff_profiles -f -a '(__vftr_files .log)'
complete -c vftrace_generate_default_config -f
