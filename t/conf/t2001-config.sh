#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr config: default, check, explain, list, and its manual page'
. "$(dirname "$0")/../lib/lib.sh"

need_built "$VFTR"
need jq

page=$TOP/man/vftr-config.5

test_expect 'the default configuration is JSON with every section' '
	"$VFTR" config default >d.json
	is "off output_directory outfile_basename logfile_for_ranks print_config \
strip_module_names demangle_cxx include_cxx_prelude report annotations output profile filter profile_table stacklist \
name_grouped_profile_table sampling mpi python iterations cuda hwprof openacc openmp files memory locks shm agent clock overhead open" \
		"$(command jq -r "keys_unsorted | join(\" \")" d.json)"
	is 4MiB "$(json d.json .shm.ring_size)"
	has d.json "      \"sample_interval\": 0.005000,"
'

test_expect 'the default configuration is checked without a warning' '
	"$VFTR" config default >d.json
	"$VFTR" config check d.json >out 2>err
	is "Checking of config file d.json is complete" "$(cat out)"
	[ ! -s err ]
'

test_expect 'a typo is an error with line and advice, and so is the next one' '
	printf "{\n \"of\": true,\n \"mpi\": {\n  \"show_tabel\": true\n }\n}\n" >c.json
	status_of 1 "$VFTR" config check c.json >out 2>err
	printf "%s\n" "c.json:2: \"of\" is not a valid vftrace option; did you mean \"off\"?" \
		"c.json:4: \"show_tabel\" is not a valid vftrace option; did you mean \"show_table\"?" >wanted
	diff wanted err
	[ ! -s out ]
'

test_expect 'with --lenient a typo is a warning with line and advice, status 0' '
	printf "{\n \"mpi\": {\n  \"show_tabel\": true\n }\n}\n" >c.json
	status_of 2 "$VFTR" config explain --lenient off 2>err
	has err "config explain has no option --lenient"
	"$VFTR" config check c.json --lenient 2>err || is "" "$(cat err)"
	status_of 0 "$VFTR" config check --lenient c.json >out 2>err
	printf "%s\n" "c.json:3: Warning: \"show_tabel\" is not a valid vftrace option." \
		"         Did you mean \"show_table\"?" >wanted
	diff wanted err
	has out "Checking of config file c.json is complete"
'

test_expect 'a wrong value is an error with line, key, value and what is accepted, status 1' '
	printf "{\n \"shm\": {\n  \"when_full\": \"wait\"\n }\n}\n" >c.json
	status_of 1 "$VFTR" config check c.json >out 2>err
	is "c.json:3: shm.when_full: \"wait\" is not one of block, drop" "$(cat err)"
	[ ! -s out ]
'

test_expect 'a syntax error is one line with its cause' '
	printf "{\n \"off\": true\n \"print_config\": true\n}\n" >c.json
	status_of 1 "$VFTR" config check c.json 2>err
	is "c.json:3: a '"','"' is missing before this key" "$(cat err)"
'

test_expect 'a missing output directory is found, with its line' '
	printf "{\n \"output_directory\": \"nowhere\"\n}\n" >c.json
	status_of 1 "$VFTR" config check c.json 2>err
	has err "c.json:2: output_directory: \"nowhere\" can"
	has err "No such file or directory"
'

test_expect 'missing, empty and unreadable files are told by name' '
	status_of 1 "$VFTR" config check nowhere.json 2>err
	has err "nowhere.json: the file can"
	: >empty.json
	status_of 1 "$VFTR" config check empty.json 2>err
	has err "empty.json:1: the file is empty"
	status_of 1 "$VFTR" config check . 2>err
	has err "Is a directory"
'

test_expect 'a configuration can come from a pipe' '
	echo "{\"off\": true}" | "$VFTR" config check /dev/stdin
'

test_expect 'wrong usage is status 2 with the usage, --help is status 0' '
	status_of 2 "$VFTR" config 2>err
	has err "usage: vftr config"
	status_of 2 "$VFTR" config check 2>err
	has err "check takes FILE"
	status_of 2 "$VFTR" config default x 2>err
	status_of 2 "$VFTR" config nonsense 2>err
	has err nonsense
	"$VFTR" config --help >out
	has out explain
'

test_expect 'explain tells type, default, accepted values and meaning' '
	"$VFTR" config explain profile_table.sort_table.column >out
	has out "default:  \"time_excl\""
	has out "time_excl, time_incl, calls, stack_id, overhead, none"
	has out "meaning:"
	"$VFTR" config explain Shm >out
	has out shm.ring_size
	is 3 "$(wc -l <out)"
'

test_expect 'explain tells which units and words are accepted' '
	"$VFTR" config explain agent.linger_s >out
	has out "type:     time"
	has out "accepted: a time from 0 to 1000000000 s, such as 2.5 or \"300ms\""
	"$VFTR" config explain sampling.outbuffer_size >out
	has out "accepted: an integer from 1 to 65536, or a size such as \"16MiB\""
	"$VFTR" config explain off >out
	has out "also:     yes or no, on or off, 1 or 0, with --set and in VFTR_SET"
'

test_expect 'explain of an unknown key tells the nearest' '
	status_of 1 "$VFTR" config explain shm.ringsize 2>err
	has err "did you mean \"shm.ring_size\"?"
'

test_expect 'list has one line for each key of the default configuration' '
	"$VFTR" config default | jq -r "paths(type != \"object\") | map(tostring) | join(\".\")" |
		sort >wanted
	"$VFTR" config list | sed "s/ .*//" | sort >got
	diff wanted got
'

test_expect 'the manual page has each key with its default and meaning, and no other' '
	"$VFTR" config list | sed "s/ .*//" >keys
	sed -n "/^\.Sh KEYS/,/^\.Sh VALUES/s/^\.It Cm //p" "$page" >documented
	diff keys documented
	while read -r key; do
		"$VFTR" config explain "$key" >out
		sed -n "/^\.It Cm $key\$/,/^\.Li/p" "$page" | tr "\n" " " | sed "s/\\\\(dq/\"/g" >entry
		has entry "$(sed -n "s/^ *meaning: *//p" out)"
		has entry ".Li $(sed -n "s/^ *default: *//p" out) ."
		case $(sed -n "s/^ *type: *//p" out) in
		boolean) has entry "True or false" ;;
		*) has entry "$(sed -n "s/^ *accepted: .//p" out)" ;;
		esac
	done <keys
'

test_expect 'what messages call a key is one' '
	"$VFTR" config list | sed "s/ .*//" | sort >keys
	sections=$(sed -n "s/\..*//p" keys | sort -u | paste -sd "|")
	grep -rh --include="*.c" "^[^#]*\"" "$TOP/nodeagent" "$TOP/libhook" "$TOP/conf" | grep -oE "\"[^\"]*\"" |
		grep -oE "\<($sections)\.[a-z_]+(\.[a-z_]+)*\>" | grep -vE "^(output\.exe|profile\.(json|py)|memory\.(current|max|stat|limit_in_bytes|usage_in_bytes))\$" | sort -u >named
	[ "$(wc -l <named)" -gt 8 ]
	comm -23 named keys >none
	cat none
	[ ! -s none ]
'

test_if 'command -v mandoc' 'no mandoc here' 'the manual page has no lint' '
	# which other pages are installed does not concern us
	mandoc -T lint "$page" 2>&1 | grep -v "mandoc\.db\|referenced manual not found" >out || true
	cat out
	[ ! -s out ]
'

test_expect 'an unwritable standard output is an error' '
	[ -w /dev/full ] || exit 0
	refuse sh -c "\"$VFTR\" config default >/dev/full"
'

done_testing
