#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='completion of bash, zsh and fish: what the programs help with is what is offered'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$VFTR" "$AGENT"

# the programs by the names that are typed, and the files where each shell looks for them
mkdir bin zsh fish
ln -s "$VFTR" bin/vftr
ln -s "$VFTR" bin/vftrace_vfd_dump
ln -s "$AGENT" bin/vftr-node-agent
PATH=$PWD/bin:$PATH
cp "$TOP/man/completion.zsh" zsh/_vftr
for name in vftr vftr-node-agent vftrace_vfd_dump; do
	cp "$TOP/man/completion.fish" fish/$name.fish
done
HOME=$PWD
export PATH HOME

# answer SHELL LINE: the file that has what was offered at the end of this line
answer() {
	echo "answers/$1-$(printf %s "$2" | cksum | tr " " -)"
}

# ask SHELL LINE...: several lines of one shell, as each start of zsh or fish takes long
ask() {
	ask_shell=$1
	shift
	mkdir -p answers
	case $ask_shell in
	bash) return ;;
	zsh) zsh -f "$T/tool/complete.zsh" "$PWD/zsh" "$@" ;;
	fish)
		fish --no-config -c '
			set -p fish_complete_path $PWD/fish
			for line in $argv
				echo "<line>$line"
				complete -C "$line" | cut -f1
			end' "$@" ;;
	esac >asked
	for line; do
		awk -v line="<line>$line" '/^<line>/ { inside = $0 == line; next } inside' asked >"$(answer "$ask_shell" "$line")"
	done
}

# offered_by SHELL LINE: the candidates at the end of this line, one a line
offered_by() {
	if [ "$1" != bash ]; then
		offered_file=$(answer "$1" "$2")
		[ -e "$offered_file" ] || ask "$1" "$2"
		sed 's/[= ]*$//' "$offered_file" | sort -u
		return
	fi
	bash --norc --noprofile -c '
		. "$1"
		COMP_LINE=$2 COMP_POINT=${#2}
		eval "COMP_WORDS=($2)"
		case $2 in *" ") COMP_WORDS+=("") ;; esac
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		f=$(complete -p "${COMP_WORDS[0]}" | sed "s/.* -F \([^ ]*\) .*/\1/")
		$f "${COMP_WORDS[0]}" 2>/dev/null
		printf "%s\n" "${COMPREPLY[@]}"' bash "$TOP/man/completion.bash" "$2" |
		sed 's/[= ]*$//' | sort -u
}

# offers SHELL LINE WORD...: at least these words
offers() {
	limit true
	offered_by "$1" "$2" >offered
	line=$2
	shift 2
	for word; do
		grep -qxF -e "$word" offered || {
			echo "'$line' offers no $word:"
			cat offered
			return 1
		}
	done
}

# exactly SHELL LINE WORD...: these words, and no other
exactly() {
	offers "$@" || return 1
	is "$(($# - 2))" "$(grep -c . offered)" "candidates of '$2': $(cat offered)"
}

subcommands() {
	"$VFTR" help | sed -n 's/^  \([a-z-]*\)  *[a-z].*/\1/p'
}

# the long options in a help, whatever its form
long_options() {
	grep -oE -e '--[a-z][a-z_-]+' | sort -u
}

# every_option SHELL: of each program and subcommand whose help has any
every_option() {
	"$AGENT" --help | sed '/^Usage/,/^$/d' | grep -E '^ +(-., )?--' | grep -oE -e '^ +(-., )?--[a-z-]+' |
		long_options >wanted
	[ "$(wc -l <wanted)" -gt 15 ]
	asking=$1
	set -- 'vftr-node-agent --' 'vftrace_vfd_dump --'
	for sub in $(subcommands); do
		set -- "$@" "vftr $sub --"
	done
	ask "$asking" "$@"
	set -- "$asking"
	offers "$1" 'vftr-node-agent --' $(cat wanted)
	for sub in $(subcommands); do
		"$VFTR" help "$sub" </dev/null | grep -oE -e '^ +(-., )?--[a-z_-]+' | long_options >wanted
		[ ! -s wanted ] || offers "$1" "vftr $sub --" $(cat wanted)
	done
	bin/vftrace_vfd_dump --help | grep -oE -e '^ +(-., )?--[a-z_-]+' | long_options >wanted
	[ -s wanted ]
	offers "$1" 'vftrace_vfd_dump --' $(cat wanted)
}

for shell in bash zsh fish; do
	there="command -v $shell"
	test_if "$there" "no $shell" "$shell: every subcommand is offered" "
		exactly $shell 'vftr ' \$(subcommands) \$([ $shell != bash ] || echo --help --version)"
	test_if "$there" "no $shell" "$shell: every long option of every --help is offered" "every_option $shell"
	test_if "$there" "no $shell" "$shell: formats and other words that an option accepts" "
		ask $shell 'vftr export --format ' 'vftr export -f pe' 'vftr diff --time ' 'vftr diff --per ' \
			'vftr diff -s ' 'vftr show --sort ' 'vftr efficiency -m ' 'vftr models -m ' 'vftr models --per ' \
			'vftr flags --mpi ' 'vftr-node-agent --on-death '
		exactly $shell 'vftr export --format ' perfetto chrome otf2 paraver folded speedscope vfd3 sqlite
		exactly $shell 'vftr export -f pe' perfetto
		exactly $shell 'vftr diff --time ' excl incl
		exactly $shell 'vftr diff --per ' rank job
		exactly $shell 'vftr diff -s ' diff percent significance a b calls path
		exactly $shell 'vftr show --sort ' excl incl calls imbalance
		exactly $shell 'vftr efficiency -m ' multiplicative additive
		exactly $shell 'vftr models -m ' time calls messages bytes
		exactly $shell 'vftr models --per ' job rank
		exactly $shell 'vftr flags --mpi ' openmpi mpich
		exactly $shell 'vftr-node-agent --on-death ' keep abort"
	test_if "$there" "no $shell" "$shell: every key of the configuration" '
		"$VFTR" config list | cut -d" " -f1 >keys
		[ "$(wc -l <keys)" -gt 40 ]
		exactly '$shell' "vftr config explain " $(cat keys)
		exactly '$shell' "vftr-node-agent --set " $(cat keys)
		exactly '$shell' "vftr-node-agent -k clock." clock.source clock.sync_interval_s'
	test_if "$there" "no $shell" "$shell: actions of vftr config, and subcommands after help" "
		exactly $shell 'vftr config ' default check explain list
		offers $shell 'vftr help ' diff export"
	test_if "$there" "no $shell" "$shell: after -- a command" "
		offers $shell 'vftr-node-agent --preload -- vftr-node' vftr-node-agent"
done

# bash offers files where it gets nothing
test_expect 'bash: options, and no files, where a subcommand takes none' '
	offers bash "vftr top " --once --every --session --json
	offers bash "vftr flags " --cflags'

for shell in zsh fish; do
	test_if "command -v $shell" "no $shell" "$shell: files of the kind that a subcommand reads" '
		mkdir -p '$shell'-files/folder
		cd '$shell'-files
		ln -s ../zsh ../fish .
		touch profile.json heat_all.json heat_all.log heat_vm.vfd heat_vm.vfp heat.c
		offered() { offered_by '$shell' "$1" | sed "s|/\$||" | grep -e heat -e profile | tr "\n" " "; }
		is "heat_vm.vfd " "$(offered "vftr dump ")"
		is "heat_vm.vfd " "$(offered "vftr export ")"
		is "heat_vm.vfd " "$(offered "vftr critical-path ")"
		is "heat_vm.vfp " "$(offered "vftr collate ")"
		is "heat_all.json heat_vm.vfp profile.json " "$(offered "vftr histogram ")"
		is "heat_all.json heat_all.log heat_vm.vfp profile.json " "$(offered "vftr diff ")"
		is "" "$(offered "vftr top ")"
		is "heat_all.json profile.json " "$(offered "vftr config check ")"'
done

done_testing
