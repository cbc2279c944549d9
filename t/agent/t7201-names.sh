#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
test_description='functions have their names, whatever the file they are in'
. "$(dirname "$0")/../lib/lib.sh"

need gcc strip objcopy jq
need_built "$AGENT" "$LIB/libvftrace.so"

found=$(test_link vftrace)
hooked="$TEST_FLAGS -finstrument-functions"
host=$(uname -n)

# run PROGRAM ARGS...: traced; what the agent says goes to said
run() {
	traced --config "$PWD/conf.json" -- "$@" >said 2>&1 || { cat said >&2; return 1; }
	cat said
}

# names STYLE: the configuration of run()
names() {
	echo "{ $1 }" >conf.json
}
names ''

cat >app-names.counts <<'EOF'
1 main<init
3 helper@app-names.c<main<init
1 other_work<main<init
6 helper@app-names-other.c<other_work<main<init
1 twin@app-names-other.c<other_work<main<init
2 twin<main<init
EOF

for how in '-fPIE -pie' '-fno-pie -no-pie' '-static'; do
	test_expect "$how: static functions of one name in two files are kept apart" '
		case "$how" in
		-static) gcc $hooked -static -o app "$T/agent/app-names.c" "$T/agent/app-names-other.c" "$LIB/libvftrace.a" ;;
		*) gcc $hooked $how -o app "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found ;;
		esac
		run ./app
		same_calls app-names.counts app_all.json'
done

test_if 'command -v clang' 'no clang' 'clang: the same' '
	clang $hooked -o app "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found
	run ./app
	same_calls app-names.counts app_all.json'

test_expect 'a shared library: the same' '
	gcc $hooked -shared -fPIC -o libother.so "$T/agent/app-names-other.c"
	gcc $hooked -o shared "$T/agent/app-names.c" -L. -lother -Wl,-rpath,"$PWD" $found
	run ./shared
	# each file has only one of a name now
	sed "s/@app-names[^<]*//" app-names.counts >shared.counts
	same_calls shared.counts shared_all.json'

test_expect 'a function or region that is called as the root is another one' '
	cat >root.c <<-"EOF"
		#include <vftrace.h>
		static volatile int n;
		void fill(void) { for (int i = 0; i < 1000000; i++) n += i; }
		void init(void) { for (int i = 0; i < 20000000; i++) n += i; fill(); }
		int main(void) { init(); fill(); vftrace_region_begin("init"); fill(); vftrace_region_end("init"); return 0; }
	EOF
	gcc $hooked -I"$TOP/libhook" -o root root.c $found
	limit "$VFTR" run -o root.run -- ./root 2>said
	grep "^ .*  init #2 < main" said
	jq -r ".stacks[] | select(.calls) | \"\(.calls) \(.path)\"" root.run/profile.json | sort >paths
	printf "%s\n" "0 init" "1 fill < main < init" "1 main < init" "2 fill < init #2 < main < init" \
		"2 init #2 < main < init" | diff - paths
	# as in the layout of Vftrace, whose users look for the name
	run ./root
	has root_all.json "\"init<main<init\""'

test_expect 'a stripped program has a profile: exact calls, module+0xoffset' '
	gcc $hooked -o whole "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found
	strip -o stripped whole
	run ./stripped
	is "1 1 1 2 3 6" "$(echo $(calls_in stripped_all.json | cut -d" " -f1 | sort -n))"
	calls_in stripped_all.json | grep -q "stripped+0x[0-9a-f]*<stripped+0x[0-9a-f]*<init"
	grep -rq "stripped is stripped: " said stripped_all.log "stripped_node_$host.log"'

test_expect 'a separate debug file gives the names back' '
	mkdir -p split/.debug
	objcopy --only-keep-debug whole split/.debug/split.debug
	strip -o split/split whole
	objcopy --add-gnu-debuglink=split/.debug/split.debug split/split
	run split/split
	same_calls app-names.counts split_all.json'

test_expect 'a file that is gone at the end: exact calls, no failure' '
	cp whole vanish
	run ./vanish 3 "$PWD/vanish"
	is "1 1 1 2 3 6" "$(echo $(calls_in vanish_all.json | cut -d" " -f1 | sort -n))"'

test_expect 'a file that is another one at the end: no wrong names' '
	printf "int pad(int x) { return x; }\n" >pad.c
	gcc $hooked -o newer pad.c "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found
	cp whole changed
	run ./changed 3 "$PWD/changed" "$PWD/newer"
	is "1 1 1 2 3 6" "$(echo $(calls_in changed_all.json | cut -d" " -f1 | sort -n))"
	# either it was read in time, or its functions have no names
	if same_calls app-names.counts changed_all.json >/dev/null 2>&1; then exit 0; fi
	is 0 "$(calls_in changed_all.json | grep -cE " (helper|twin|other_work|main|pad)(@[^<]*)?<")"
	grep -rq "changed since it ran" said changed_all.log "changed_node_$host.log"'

test_expect 'nor without build-ids: those of the file that ran, or none' '
	gcc $hooked -Wl,--build-id=none -o newer pad.c "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found
	gcc $hooked -Wl,--build-id=none -o changed "$T/agent/app-names.c" "$T/agent/app-names-other.c" $found
	run ./changed 3 "$PWD/changed" "$PWD/newer"
	is "1 1 1 2 3 6" "$(echo $(calls_in changed_all.json | cut -d" " -f1 | sort -n))"
	if same_calls app-names.counts changed_all.json >/dev/null 2>&1; then exit 0; fi
	is 0 "$(calls_in changed_all.json | grep -cE " (helper|twin|other_work|main|pad)(@[^<]*)?<")"
	grep -rq "changed since it ran" said changed_all.log "changed_node_$host.log"'

cat >cxx.counts <<'EOF'
1 main<init
3 _Z3addIiET_S0_S0_<main<init
2 _Z3addIdET_S0_S0_<main<init
1 _ZN4heat4gridIdLi3EEC1Ev<main<init
4 _ZN4heat4gridIdLi3EE4stepEv<main<init
1 _ZNK4heat4gridIdLi3EEplERKS1_<main<init
1 _ZN12_GLOBAL__N_16hiddenEi<main<init
5 _ZZ4mainENKUliE_clEi<main<init
EOF
cat >short.counts <<'EOF'
1 main<init
2 add<main<init
3 add #2<main<init
1 heat::grid::grid<main<init
4 heat::grid::step<main<init
1 heat::grid::operator+<main<init
1 (anonymous)::hidden<main<init
5 main::{lambda#1}<main<init
EOF

cxx='need_cxx() { command -v g++; }; need_cxx'
test_if "$cxx" 'no g++' 'C++: templates, operators, lambdas, under short names' '
	g++ $hooked -o cxx "$T/agent/app-names.cpp" $found
	run ./cxx
	same_calls short.counts cxx_all.json'

# linker_names JSON: the paths by the names that linkers have for the functions
linker_names() {
	jq -r "([.functions[] | {key: .function, value: (.linker_name // .function)}] | from_entries) as \$of |
		([.stacks[] | {key: (.id | tostring), value: .}] | from_entries) as \$all |
		def path: \$of[.function] +
			if .parent < 0 then \"\" else \"<\" + (\$all[.parent | tostring] | path) end;
		.stacks[] | select(.calls > 0) | \"\(.calls) \(path)\"" "$1"
}

test_if "$cxx" 'no g++' 'C++: from short names in JSON to those of the linker and to the whole ones' '
	linker_names cxx_all.json | sort >got
	sort cxx.counts | diff - got
	is "int add<int>(int, int)" "$(json cxx_all.json \
		".functions[] | select(.function == \"add #2\").full_name")"
	is "$(json cxx_all.json ".functions | length")" \
		"$(json cxx_all.json "[.functions[].function] | unique | length")"
	is null "$(json cxx_all.json ".functions[] | select(.function == \"main\").linker_name")"'

test_if "$cxx" 'no g++' 'C++: under their mangled names, if these are wanted' '
	for key in "\"demangle_cxx\": false" "\"output\": { \"names\": \"linker\" }"; do
		names "$key"
		run ./cxx
		same_calls cxx.counts cxx_all.json
	done'

test_if "$cxx" 'no g++' 'C++: demangled on demand, template arguments included; paths stay' '
	names "\"output\": { \"names\": \"full\" }"
	run ./cxx
	for f in "int add<int>(int, int)" "double add<double>(double, double)" \
		"heat::grid<double, 3>::step()" "(anonymous namespace)::hidden(int)"; do
		is 1 "$(jq --arg f "$f" "[.stacks[] | select(.function == \$f)] | length" cxx_all.json)" "$f"
		has cxx_all.log "$f"
	done'

names ''

test_if 'command -v gfortran' 'no gfortran' 'Fortran: module procedures, contained ones, underscores' '
	gfortran $hooked -o fort "$T/agent/app-names.f90" $found
	run ./fort
	is 3 "$(json fort_all.json "[.stacks[] | select(.function == \"names::twice\") | .calls] | add")"
	is 2 "$(json fort_all.json "[.stacks[] | select(.function == \"more::twice\") | .calls] | add")"
	is 4 "$(json fort_all.json "[.stacks[] | select(.function == \"loose\") | .calls] | add")"
	is 5 "$(json fort_all.json "[.stacks[] | select(.function | startswith(\"inner\")) | .calls] | add")"'

test_if 'command -v gfortran' 'no gfortran' 'Fortran: module names are cut off on demand' '
	names "\"strip_module_names\": true"
	run ./fort
	is 2 "$(json fort_all.json "[.stacks[] | select(.function == \"twice\") | .calls] | add")"
	is 3 "$(json fort_all.json "[.stacks[] | select(.function == \"twice #2\") | .calls] | add")"
	is 1 "$(json fort_all.json "[.stacks[] | select(.function == \"outer\") | .calls] | add")"'

names ''

test_expect 'not PIE: the address that a program has for a function of a library' '
	echo "int shared(int x) { return x + 1; }" >shared.c
	echo "int shared(int); int (*volatile f)(int) = shared; int main(void) { return f(-1); }" >nopie.c
	gcc $hooked -shared -fPIC -o libshared.so shared.c
	gcc $hooked -fno-pie -no-pie -o nopie nopie.c -L. -lshared -Wl,-rpath,"$PWD" $found
	for form in kept stripped; do
		run ./nopie
		is 1 "$(json nopie_all.json "[.stacks[] | select(.function == \"shared\") | .calls] | add")" "$form"
		strip nopie
	done'

gcc $hooked -o host "$T/agent/app-plugin.c" $found -ldl
for p in alpha beta; do
	gcc $hooked -shared -fPIC -DWORK=work_$p -o $p.so "$T/agent/app-plugin-lib.c"
done
gcc $hooked -shared -fPIC -DWORK=work_padded -DPAD='"64"' -o padded.so "$T/agent/app-plugin-lib.c"

# called PLUGIN TIMES: its functions, each below the other, in the last run of host
called() {
	is "$2" "$(calls_of host_all.json "work_$1<plugin_run<use<main<init")" "work_$1"
	is "$2" "$(calls_of host_all.json "step<work_$1<plugin_run<use<main<init")" "step of $1"
}

test_expect 'plug-ins one after the other keep their names' '
	run ./host ./alpha.so ./beta.so ./padded.so
	for p in alpha beta padded; do called $p 3; done'

test_expect 'a plug-in that comes back at another address is the same' '
	run ./host ./alpha.so + ./alpha.so + ./alpha.so
	is 3 "$(head -n 1 said)" "places"
	called alpha 9'

test_expect 'plug-ins that take turns, fifty times' '
	set --
	for i in $(seq 25); do set -- "$@" ./alpha.so ./beta.so; done
	run ./host "$@"
	called alpha 75
	called beta 75'

test_expect 'a plug-in of a folder that is not ours, whose name is relative to it' '
	mkdir -p elsewhere
	cp alpha.so elsewhere/here.so
	run sh -c "cd elsewhere && exec ../host =./here.so"
	called alpha 3
	hasnt said "no such file"'

test_expect 'nor are those of a folder that it went to, one of them by a symbolic link' '
	mkdir -p elsewhere
	cp alpha.so elsewhere/here.so
	gcc $hooked -shared -fPIC -Wl,--build-id -DWORK=work_linked -o elsewhere/linked.so.1 "$T/agent/app-plugin-lib.c"
	ln -sf linked.so.1 elsewhere/linked.so
	run ./host @elsewhere =./here.so =./linked.so "?"
	called alpha 3
	called linked 3
	hasnt said "no such file"'

test_expect 'a plug-in whose file is removed while it is open: exact calls' '
	cp alpha.so gone.so
	run ./host ./beta.so -./gone.so
	called beta 3
	is 19 "$(json host_all.json "[.stacks[].calls] | add")" "calls in all"'

done_testing
