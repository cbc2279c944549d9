# SPDX-License-Identifier: BSD-3-Clause
# What a real interactive zsh offers at the end of command lines:
#	zsh -f complete.zsh FOLDER LINE...	"<line>LINE", then one candidate a line; FOLDER has _vftr
# Its compadd prints what the original one would have offered.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT= PS2=; stty -echo rows 200 columns 200; fpath=('${(q)1}' $fpath)'
zpty -w shell 'autoload -Uz compinit; compinit -u -D'
zpty -w shell 'compadd() {
	case " $* " in
	*" -O "* | *" -A "* | *" -D "*) builtin compadd "$@"; return ;;
	esac
	local -a offered
	builtin compadd -O offered "$@"
	print -rl -- "<offered>"${^offered} >>$CANDIDATES
	builtin compadd "$@"
}
offer() { compstate[insert]= ; _main_complete; compstate[insert]= compstate[list]= ; print -r "<end>" >>$CANDIDATES; }
zle -C offer list-choices offer
bindkey "^I" offer'
candidates=$(mktemp)
zpty -w shell "CANDIDATES=${(q)candidates}; echo rea''dy"
zpty -r shell answer '*ready*'
for line in $@[2,-1]; do
	: >$candidates
	zpty -w -n shell $'\C-u'$line$'\t'
	repeat 3000; do
		[[ $(<$candidates) == *'<end>'* ]] && break
		zpty -r -t shell answer
		sleep 0.02
	done
	print -r -- "<line>$line"
	sed -n 's/^<offered>//p' $candidates | sort -u
done
zpty -d shell
rm -f $candidates
