#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='messages: each has the value that is wrong, and says what to do'
. "$(dirname "$0")/../lib/lib.sh"
need gcc jq
need_built "$AGENT" "$VFTR" "$LIB/libvftrace.so"
TEST_CC=gcc
printf 'int main(void) { return 3; }\n' >one.c
cc_traced "$BIN/one" one.c

# says TEXT VARIABLE=VALUE...: the program runs, untraced, and its only line is TEXT
says() {
	says_text=$1
	shift
	status_of 3 env "$@" "$BIN/one" 2>said
	is "vftrace: $says_text; running untraced" "$(cat said)"
}

test_expect 'the library: what is not an agent, and which variable to set' '
	printf "#!/bin/sh\nexit 1\n" >no-agent
	chmod +x no-agent
	says "VFTR_AGENT=$PWD/no-agent is no vftr-node-agent; set VFTR_AGENT to the path of one" \
		VFTR_AGENT="$PWD/no-agent"
	says "no node agent ($PWD/none) could be reached or started: No such file or directory (see vftr doctor)" \
		VFTR_AGENT="$PWD/none"'

test_expect 'the library: a directory that others may enter' '
	mkdir -m 755 open
	says "the runtime directory $PWD/open must be yours and have mode 0700; make it so, or set VFTR_RUNTIME_DIR to another one" \
		VFTR_RUNTIME_DIR="$PWD/open"'

test_expect 'the library: what cannot be the name of a session' '
	says "VFTR_SESSION=a/b: a session'"'"'s name has no \`/'"'"' and does not begin with \`.'"'"'" VFTR_SESSION=a/b'
done_testing
