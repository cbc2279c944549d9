#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An agent of the test's own notes that it was started, then is the real one.
test_description='what build systems run to try the compiler starts no agent and leaves no file'
. "$(dirname "$0")/../lib/lib.sh"
need_built "$AGENT" "$LIB/libvftrace.so"

STARTED=$PWD/started
{
	echo "#!/bin/sh"
	echo "echo \"\$@\" >>'$STARTED'"
	echo "exec '$AGENT' \"\$@\""
} >agent
chmod +x agent
export VFTR_AGENT="$PWD/agent" VFTR_SET="agent.linger_s=0"
export CFLAGS="-O1 -finstrument-functions" CC="$TEST_CC"

# what probes must not leave in the folder FOLDER, or anywhere below it
left_in_peace() {
	[ ! -e "$STARTED" ] || {
		cat "$STARTED"
		return 1
	}
	is "" "$(find "$1" -name "*_all.*" -o -name "*_node_*" -o -name "*.vfp")"
}

test_expect 'a program of the same text under another name starts an agent' '
	echo "int main(void) { return 0; }" >c.c
	mkdir plain
	$TEST_CC $CFLAGS -o plain/conftests c.c $(test_link vftrace)
	(cd plain && limit ./conftests)
	wait_for 20 "[ -e plain/conftests_all.log ]"
	is 1 "$(wc -l <"$STARTED")"
	rm "$STARTED"
	mkdir probe
	for name in conftest cmTC_01abc sanitycheckc.exe output.exe; do
		cp plain/conftests probe/$name
		(cd probe && limit ./$name 2>&1) >said
		is "" "$(cat said)"
	done
	left_in_peace probe'

test_expect 'such a program is traced as any other by an agent that is there' '
	traced -q -- probe/conftest
	[ -e conftest_all.log ]'

test_if 'command -v autoconf' 'no autoconf' 'autoconf: configure with our flags' '
	mkdir autoconf
	cd autoconf
	printf "%s\n" "AC_INIT([x], [1])" "AC_PROG_CC" \
		"AC_RUN_IFELSE([AC_LANG_PROGRAM([], [[return 0;]])], [AC_MSG_NOTICE([has run])])" \
		"AC_OUTPUT" >configure.ac
	autoconf
	LIBS=$(test_link vftrace) limit ./configure >said 2>&1 || { cat said config.log; exit 1; }
	has said "has run"
	has config.log ": ./conftest"
	has config.log "finstrument-functions"
	left_in_peace .'

test_if 'command -v cmake' 'no cmake' 'CMake: check_c_source_runs with our flags' '
	mkdir cmake
	printf "%s\n" "cmake_minimum_required(VERSION 3.10)" "project(x C)" "include(CheckCSourceRuns)" \
		"check_c_source_runs(\"int main(void) { return 0; }\" HAS_RUN)" \
		"message(STATUS \"said: \${HAS_RUN}\")" >cmake/CMakeLists.txt
	limit cmake -S cmake -B cmake/b -DCMAKE_EXE_LINKER_FLAGS="$(test_link vftrace)" >said 2>&1 ||
		{ cat said; exit 1; }
	has said "said: 1"
	grep -rq "cmTC_.*finstrument-functions\|finstrument-functions.*cmTC_" cmake/b/CMakeFiles/CMake*.log \
		cmake/b/CMakeFiles/CMakeConfigureLog.yaml
	left_in_peace cmake'

test_if 'command -v meson && command -v ninja' 'no meson' 'Meson: its sanity check and compiler.run with our flags' '
	mkdir meson
	printf "%s\n" "project(!x!, !c!)" \
		"r = meson.get_compiler(!c!).run(!int main(void) { return 0; }!)" \
		"message(!said:!, r.compiled(), r.returncode())" | tr ! "\047" >meson/meson.build
	LDFLAGS=$(test_link vftrace) limit meson setup meson/b meson >said 2>&1 || { cat said; exit 1; }
	has said "said: true 0"
	has meson/b/meson-logs/meson-log.txt "sanitycheckc.exe"
	has meson/b/meson-logs/meson-log.txt "finstrument-functions"
	left_in_peace meson'

done_testing
