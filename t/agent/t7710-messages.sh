#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='messages have the value that is wrong, and say what to do'
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

# refused TEXT COMMAND...: it prints TEXT and nothing else, and fails with 125
refused() {
	refused_text=$1
	shift
	status_of 125 limit "$@" 2>said
	is "vftr-node-agent: $refused_text" "$(cat said)"
}

test_expect 'the agent: where a wrong key or file of the configuration was given' '
	refused "VFTR_SET: \"sampling.activ\" is not a valid vftrace option; did you mean \"sampling.active\"?" \
		env VFTR_SET=sampling.activ=true "$AGENT" -- "$BIN/one"
	refused "--set \"sampling.activ\" is not a valid vftrace option; did you mean \"sampling.active\"?" \
		env VFTR_SET=off=false "$AGENT" -k sampling.activ=true -- "$BIN/one"
	refused "VFTR_CONFIG=none.json: No such file or directory" \
		env VFTR_CONFIG=none.json "$AGENT" -- "$BIN/one"
	status_of 3 env VFTR_CONFIG= "$AGENT" -q -- "$BIN/one" 2>said
	is "" "$(cat said)"'

test_expect 'the agent: a folder that cannot be made is called one' '
	refused "--output /proc/x: the folder cannot be made or written to: No such file or directory" \
		"$AGENT" -k output.layout=run -o /proc/x -- "$BIN/one"'

# run_says TEXT OPTION...: vftr run refuses the options, and says so as what was typed
run_says() {
	run_text=$1
	shift
	status_of 125 "$VFTR" run "$@" -- "$BIN/one" 2>said
	is "vftr: run: $run_text" "$(cat said)"
}

test_expect 'vftr run: a wrong value is one of the option that was given' '
	run_says "--output /proc/x: the folder cannot be made or written to: No such file or directory" -o /proc/x
	run_says "--set \"sampling.activ\" is not a valid vftrace option; did you mean \"sampling.active\"?" \
		-k sampling.activ=true
	run_says "none.json: the file can'"'"'t be read: No such file or directory" -c none.json
	run_says "--tag: \"x\" is not of the form KEY=VALUE" --tag x
	status_of 125 "$VFTR" run --rank x -- "$BIN/one" 2>said
	is "vftr: run: --rank: \"x\" is not \"all\", \"none\" or a list of ranks such as \"0,2-5\": a number from 0 to 1000000000 or a range A-B is expected at \"x\"" \
		"$(cat said)"'

test_expect 'tools: what is no run, and what to name in its place' '
	mkdir -p empty
	status_of 2 "$VFTR" show empty 2>said
	is "vftr: empty: no node profiles (BASE_HOST.vfp, HOST.vfp) in it; name the folder that vftr run has made" \
		"$(cat said)"
	status_of 2 "$VFTR" show "$BIN/one" 2>said
	is "vftr: $BIN/one: not a node profile (BASE_HOST.vfp or HOST.vfp, as runs write them)" "$(cat said)"'

test_expect 'vftr flags: a compiler that is not known is not taken for gcc without a word' '
	quoted="is quoted, for makefiles" # of a clone in a folder with a blank
	"$VFTR" flags --cflags --cc /opt/bin/foo >options 2>said
	has options "finstrument-functions"
	is "vftr: flags: --cc /opt/bin/foo: no compiler that vftr knows; these are the options of gcc" "$(grep -v "$quoted" said)"
	for cc in gcc x86_64-linux-gnu-g++-12 "ccache gcc" cc CC mpicc mpicxx.openmpi clang-14 icpx nvc gfortran ftn; do
		"$VFTR" flags --cxxflags --libs --cc "$cc" >options 2>said
		is "" "$(grep -v "$quoted" said)" "said of $cc"
	done'

test_expect 'limits: the number that is too much, and the most' '
	long=$(printf "%061d" 0)
	status_of 125 "$VFTR" run --tag "$long=1" -- "$BIN/one" 2>said
	has said "has 61 bytes; 60 are the most"
	set --
	for i in $(seq 65); do set -- "$@" --tag a=$i; done
	status_of 125 "$VFTR" run "$@" -- "$BIN/one" 2>said
	has said "more than "'

test_expect 'a profile that is damaged: what is wrong in words of its manual page' '
	status_of 3 traced -q -o . -- "$BIN/one"
	vfp=$(ls one_*.vfp)
	# both call paths are called by the first one; the checksum is right
	python3 - "$vfp" <<-"END"
	import struct, sys
	data = bytearray(open(sys.argv[1], "rb").read())
	at, sections = 56, struct.unpack_from("<Q", data, 32)[0]
	for _ in range(sections):
	    tag, n, size = struct.unpack_from("<8sQQ", data, at)
	    if tag == b"stacks  ":
	        struct.pack_into("<Q", data, at + 24 + 8, 0)
	        struct.pack_into("<Q", data, at + 24 + size + 8, 0)
	    at += 24 + (n * size + 7) // 8 * 8
	h = 0xcbf29ce484222325
	rest = bytes(data[:48] + data[56:])
	for i in range(0, len(rest), 8):
	    h = (h ^ int.from_bytes(rest[i:i + 8], "little")) * 0x9e3779b97f4a7c15 & (1 << 64) - 1
	    h ^= h >> 32
	struct.pack_into("<Q", data, 48, h)
	open("bad.vfp", "wb").write(data)
	END
	status_of 2 "$VFTR" show bad.vfp 2>said
	is "vftr: bad.vfp: damaged: there is not exactly one root" "$(cat said)"'
done_testing
