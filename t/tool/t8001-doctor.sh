#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='vftr doctor says whether a program will be traced, and why not'
. "$(dirname "$0")/../lib/lib.sh"

need gcc nm strip
need_built "$VFTR" "$AGENT" "$LIB/libvftrace.so" "$LIB/libvftrace.a"

hooked=-finstrument-functions
found="-L$LIB -Wl,-rpath,$LIB"

# doctor STATUS PROGRAM: its output goes to the file said
doctor() {
	status_of "$1" limit "$VFTR" doctor "$2" >said 2>&1 || { cat said >&2; return 1; }
	cat said
}

cat >main.c <<'EOF'
int work(int x) { return x + 1; }
int main(int argc, char **argv) { (void)argv; return work(argc) - 2; }
EOF
cat >region.c <<'EOF'
#include "vftrace.h"
int main(void) { vftrace_region_begin("r"); vftrace_region_end("r"); return 0; }
EOF
cat >mpi.c <<'EOF'
#include <mpi.h>
int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
EOF
gcc -c $hooked -o main.o main.c
gcc -o linked main.o $found -lvftrace
gcc -o bare main.o
gcc -o uninstrumented main.c

test_expect 'a program linked with the library will be traced' '
	doctor 0 ./linked
	is "./linked: will be traced" "$(head -n 1 said)"
	has said "hooks are those of $LIB/libvftrace.so"
	has said "the node agent is $(readlink -f "$AGENT")"'

test_expect 'what it says is what happens' '
	limit "$AGENT" -- ./linked
	test -s linked_all.log'

test_expect 'it finds programs in this directory and on PATH' '
	doctor 0 linked
	mkdir -p elsewhere
	cp linked elsewhere/onpath
	(export PATH="$PWD/elsewhere:$PATH"; doctor 0 onpath)
	mkdir onpath
	(export PATH="$PWD/elsewhere:$PATH"; doctor 0 onpath)
	rmdir onpath'

test_expect 'a program that is not instrumented will not, and it names the option' '
	doctor 1 ./uninstrumented
	is "./uninstrumented: will not be traced" "$(head -n 1 said)"
	has said "not instrumented"
	has said "-finstrument-functions"
	has said "by stack samples: run it under \`vftr run --"'

test_expect 'a library dropped by --as-needed is noticed' '
	gcc -Wl,--as-needed $found -lvftrace -o dropped main.o
	doctor 1 ./dropped
	has said "it is not linked with libvftrace"
	has said "__cyg_profile_func_enter@GLIBC"
	has said "--no-as-needed"
	has said "run it under \`vftr run --"'

test_if '[ -z "$SANITIZE" ]' 'the runtime of a sanitizer must be loaded first' \
	'a preloaded library counts' '
	doctor 1 ./bare
	(export LD_PRELOAD=$LIB/libvftrace.so; doctor 0 ./bare)'

test_expect 'the library inside an executable counts, dynamic or static, stripped or not' '
	gcc -o inside main.o "$LIB/libvftrace.a" -ldl -lpthread
	doctor 0 ./inside
	has said "libvftrace.a inside"
	strip -o inside-stripped inside
	doctor 0 ./inside-stripped
	gcc -static -o static main.o "$LIB/libvftrace-static.a" -ldl -lpthread
	doctor 0 ./static
	has said "statically linked"
	strip -o static-stripped static
	doctor 0 ./static-stripped'

test_expect 'a static program without the library is told what to do' '
	gcc -static -o static-bare main.o
	doctor 1 ./static-bare
	has said "libvftrace-static.a"
	strip -o static-bare-stripped static-bare
	doctor 1 ./static-bare-stripped
	has said "holds no trace of libvftrace-static.a"
	gcc -static -o static-un main.c
	doctor 1 ./static-un
	has said "-finstrument-functions"'

test_expect 'an instrumented library of a plain program counts' '
	printf "int work(int x) { return x + 1; }\n" >work.c
	printf "int work(int); int main(int n, char **v) { (void)v; return work(n) - 2; }\n" >user.c
	gcc -shared -fPIC $hooked -o libwork.so work.c
	gcc -o user user.c -L. -lwork -Wl,-rpath,"$PWD" $found -Wl,--no-as-needed -lvftrace
	doctor 0 ./user
	has said "libwork.so is instrumented"'

# hooked PROGRAM: how many of its functions call the hook, by objdump
hooked() {
	objdump -d --no-show-raw-insn "$1" | awk "/^[0-9a-f]+ <.*>:\$/ { f = \$2 }
		/call .*__cyg_profile_func_enter/ && !seen[f]++ { n++ } END { print n + 0 }"
}

test_if '[ "$(uname -m)" = x86_64 ] && command -v g++ objdump' 'not x86-64, or no g++' \
	'it counts the instrumented functions of C++ by library, and says what to do' '
	for how in "" "-fno-plt" "-O2" "-no-pie" "-fcf-protection=full -Wl,-z,ibtplt"; do
		g++ $hooked $how -o stl "$T/tool/app-stl.cpp" $found -lvftrace
		doctor 0 ./stl
		n=$(sed -n "s/^  note  \([0-9]*\) functions are instrumented: .*/\1/p" said)
		case $how in
		-fno-plt) [ "$n" -gt 100 ] ;; # objdump does not name the callee
		*) is "$(hooked stl)" "$n" ;;
		esac
		grep "instrumented: [0-9]* of std::, [0-9]* of the program$" said
		grep -A1 "of std::" said | grep -e "-> compile C++ with what .vftr flags --cxxflags. prints"
	done
	flagged --cxxflags g++ -O1 -o stl "$T/tool/app-stl.cpp" $found -lvftrace
	doctor 0 ./stl
	n=$(sed -n "s/^  note  \([0-9]*\) functions are instrumented: .*/\1/p" said)
	is "$(hooked stl)" "$n"
	[ "$n" -lt 40 ]
	hasnt said "compile C++ with"
	strip stl
	doctor 0 ./stl
	hasnt said "functions are instrumented"'

test_expect 'of a C program, and of functions that are left out, it says nothing of this kind' '
	doctor 0 ./linked
	hasnt said "functions are instrumented"
	printf "namespace boost { int f(int x) { return x; } int g(int x) { return x; } }
		int main(int argc, char **) { return boost::f(boost::g(argc)) - 1; }" >boost.cpp
	g++ -O0 $hooked -o boost boost.cpp $found -lvftrace
	[ "$(uname -m)" != x86_64 ] || {
		doctor 0 ./boost
		has said "3 functions are instrumented: 2 of boost::, 1 of the program"
		has said "exclude-file-list=/boost/"
	}'

test_expect 'regions alone are a partial yes' '
	gcc -I"$TOP/libhook" -o regions region.c $found -lvftrace
	doctor 0 ./regions
	is "./regions: only its regions will be traced" "$(head -n 1 said)"'

test_expect 'hooks of another tool are named' '
	printf "void __cyg_profile_func_enter(void *f, void *c) { (void)f; (void)c; }\n" >tool.c
	printf "void __cyg_profile_func_exit(void *f, void *c) { (void)f; (void)c; }\n" >>tool.c
	gcc -shared -fPIC -o libtool-x.so tool.c
	gcc -o other main.o -L. -ltool-x -Wl,-rpath,"$PWD" $found -Wl,--no-as-needed -lvftrace
	doctor 1 ./other
	has said "libtool-x.so, another tool"'

test_expect 'a stripped program is traced, without names' '
	strip -o linked-stripped linked
	doctor 0 ./linked-stripped
	has said "stripped: names will be module+0xoffset"'

test_expect 'missing libraries are named, and not blamed on the linker' '
	gcc -o lost main.o -L"$LIB" -lvftrace
	doctor 1 ./lost
	has said "libvftrace.so is not found"
	has said LD_LIBRARY_PATH
	hasnt said "not linked with libvftrace"
	(export LD_LIBRARY_PATH=$LIB; doctor 0 ./lost)'

test_expect 'of a library that is needed by its path is told that this is the only one' '
	mkdir rel
	gcc -shared -fPIC -o rel/libwork.so main.c
	gcc -o by-path main.o $found -lvftrace -Wl,--no-as-needed ./rel/libwork.so
	mv rel moved
	doctor 1 ./by-path
	has said "its library ./rel/libwork.so is not found"
	has said "looked for at this path only"
	hasnt said "LD_LIBRARY_PATH"'

test_expect 'a script is called a script, and its interpreter named' '
	printf "#!/bin/sh -e\n./linked\n" >run.sh
	chmod +x run.sh
	doctor 1 ./run.sh
	has said "a script, run by /bin/sh -e"'

test_expect 'what cannot be read is status 2 and one line' '
	: >empty
	mkfifo fifo
	head -c 300 linked >cut
	for f in ./nothing . empty fifo main.c main.o; do
		doctor 2 $f
		is 1 "$(wc -l <said)"
	done
	status_of 2 limit "$VFTR" doctor
	status_of 2 limit "$VFTR" doctor ./linked ./bare
	status_of 2 limit "$VFTR" doctor --nonsense ./linked
	limit "$VFTR" doctor ./cut || [ $? -lt 3 ]'

test_expect 'a program of another architecture is refused' '
	cp linked foreign
	printf "\267\000" | dd of=foreign bs=1 seek=18 conv=notrunc
	doctor 1 ./foreign
	has said "it is made for aarch64"'

test_expect 'a shared library is no program' '
	doctor 1 "$LIB/libvftrace.so"
	has said "shared library"'

test_expect 'a program that may not be executed is noticed' '
	cp linked not-x
	chmod 644 not-x
	doctor 1 ./not-x
	has said "chmod +x"'

test_if '[ "$(id -u)" = 0 ]' 'needs root' 'setuid is noticed' '
	cp linked setuid
	chown 12345 setuid
	chmod 4755 setuid
	doctor 1 ./setuid
	has said "setuid to another user"
	cp linked setgid
	chmod 2755 setgid
	doctor 0 ./setgid
	has said "LD_PRELOAD"
	chgrp 12345 setgid
	chmod 2755 setgid
	doctor 1 ./setgid
	has said "run with more rights than its user has, so the library switches itself off"'

capable='[ "$(id -u)" = 0 ] && cp linked capable && setcap cap_net_raw+ep capable && setpriv --reuid=65534 --clear-groups true'
test_if "$capable" 'needs root, setcap and setpriv' 'capabilities of a file are noticed: it is traced if root runs it, and only then' '
	doctor 0 ./capable
	has said "has capabilities"
	chmod 755 "$VFTR_TEST_DIR"
	status_of 1 limit setpriv --reuid=65534 --clear-groups "$VFTR" doctor ./capable >said 2>&1
	has said "run with more rights than its user has, so the library switches itself off"
	has said "cp leaves out capabilities"'

test_expect 'the loader of a program is not trusted' '
	printf "#!/bin/sh\ntouch %s/executed\n" "$PWD" >evil
	chmod 777 evil
	gcc -o evil-loader main.o $found -lvftrace -Wl,--dynamic-linker="$PWD/evil"
	limit "$VFTR" doctor ./evil-loader >said 2>&1 || [ $? = 1 ]
	has said "libraries not searched"
	[ ! -e executed ]'

test_expect 'VFTR_OFF, VFTR_AGENT and the runtime directory are looked at' '
	(export VFTR_OFF=yes; doctor 1 ./linked)
	has said VFTR_OFF
	for agent in ./nowhere .; do
		(export VFTR_AGENT=$agent; doctor 1 ./linked)
		has said VFTR_AGENT
	done
	mkdir -p open
	chmod 755 open
	(export VFTR_RUNTIME_DIR=$PWD/open; doctor 1 ./linked)
	has said 0700'

test_expect 'a configuration is checked' '
	echo "{ \"off\": true }" >off.json
	echo "{ \"off\": tru }" >bad.json
	echo "{ \"output_directory\": \".\" }" >good.json
	status_of 1 limit "$VFTR" doctor -c off.json ./linked >said
	status_of 1 limit "$VFTR" doctor --config off.json ./linked | diff said -
	has said "\"off\": true"
	(export VFTR_CONFIG=bad.json; doctor 1 ./linked)
	has said "bad.json:1"
	status_of 0 limit "$VFTR" doctor --config=good.json ./linked'

mpis=$(echo $(mpi_list))
for mpi in openmpi mpich; do
	case $mpi in openmpi) other=mpich ;; *) other=openmpi ;; esac
	test_if "echo $mpis | grep -q $mpi" "no $mpi" "the library for $mpi fits a program of $mpi" '
		mpicc.$mpi $hooked -o $mpi-right mpi.c $found -lvftrace-$mpi
		doctor 0 ./$mpi-right
		hasnt said "without MPI"'
	test_if "echo $mpis | grep -q $mpi" "no $mpi" "a program of $mpi with the plain library is told" '
		mpicc.$mpi $hooked -o $mpi-plain mpi.c $found -lvftrace
		doctor 0 ./$mpi-plain
		has said "the library without MPI"
		has said "libvftrace-$mpi instead"'
	test_if "[ $(echo $mpis | wc -w) = 2 ]" "not two MPIs" "a program of $mpi with the other library is refused" '
		mpicc.$mpi $hooked -o $mpi-other mpi.c $found -Wl,--no-as-needed -lvftrace-$other
		doctor 1 ./$mpi-other
		has said "but the library is the one for"'
done

test_expect 'vftr has help, a version, and guesses what was meant' '
	is "vftr $(sed -n "s/^VERSION := //p" "$TOP/Makefile")" "$("$VFTR" --version)"
	for asked in -V -v version "help version"; do
		is "$("$VFTR" --version)" "$("$VFTR" $asked)"
	done
	"$VFTR" --help >out
	has out doctor
	has out config
	has out collate
	for c in doctor config collate; do "$VFTR" help $c; done
	status_of 2 "$VFTR" docter 2>err
	has err "did you mean"
	status_of 2 "$VFTR" hist 2>err
	has err histogram
	status_of 2 "$VFTR"
	[ ! -e /dev/full ] || status_of 1 "$VFTR" --help >/dev/full'

# untraced WORDS COMMAND...: it ends as it does without us, and the agent says these words
untraced() {
	words=$1
	shift
	"$@" >/dev/null 2>&1 && own=0 || own=$?
	status_of "$own" limit "$AGENT" $options -- "$@" >said 2>&1
	has said "$words"
	hasnt said "see vftr doctor"
}

test_expect 'after a run without a traced process its diagnosis is there' '
	options=
	untraced "no    it is not instrumented" ./uninstrumented
	has said "no process of ./uninstrumented was traced"
	has said "> compile it with"
	is 4 "$(grep -c "^vftr-node-agent:" said)"
	untraced "no    it runs a script" sh -c true
	has said "> or say --preload: that traces programs that are instrumented or use MPI"
	has said "> programs that are neither instrumented nor use MPI: also -k profile.sample=20"
	options=--preload
	untraced "put vftr-node-agent before that mpirun" sh -c true
	printf "%s\n" "#!/bin/sh" "./uninstrumented" >script
	chmod +x script
	untraced "no    it is a script, run by /bin/sh" ./script
	has said "> add -k profile.sample=20 if its programs are neither instrumented nor use MPI"
	hasnt said "say --preload"
	options=
	untraced "or say --preload: that traces programs that are instrumented or use MPI" ./script
	has said "ask about the program that the script starts"
	options="--preload -k profile.sample=0"
	untraced "no    it is not instrumented" ./uninstrumented
	hasnt said mpirun'

mpi=$(set -- $mpis; echo "${1:-none}")
test_if "[ $mpi != none ]" 'no MPI' 'the program behind mpirun is diagnosed, not mpirun' '
	options=
	untraced "no    it is not instrumented" mpirun.$mpi -np 1 ./uninstrumented
	hasnt said "doctor mpirun"
	untraced "no    there is no such file here" mpirun.$mpi -np 1 ./typo
	has said "vftr doctor ./typo"
	untraced "no    it is neither on PATH nor" mpirun.$mpi -np 1 typo'

test_if "echo $mpis | grep -q openmpi" 'no Open MPI' 'the same where the agents have a launcher' '
	limit "$AGENT" --agent-launcher "mpirun.openmpi -np 1" -- mpirun.openmpi -np 1 \
		./uninstrumented >said 2>&1
	has said "no    it is not instrumented"
	hasnt said "see vftr doctor"'

test_expect 'the tools of Vftrace are still there under their names' '
	ln -sf "$VFTR" vftrace_check_config
	ln -sf "$VFTR" vftrace_generate_default_config
	./vftrace_generate_default_config >default.json
	./vftrace_check_config default.json
	refuse ./vftrace_check_config bad.json'

done_testing
