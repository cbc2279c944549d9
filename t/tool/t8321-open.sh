#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The page's requests are made here as a browser makes them.
test_description='vftr open: the time line of a run, for one page or a viewer'
. "$(dirname "$0")/../lib/lib.sh"
need jq python3
need_built "$AGENT" "$VFTR"

printf "%s\n" "static volatile int n;" "static void step(void) { n++; }" \
	"int main(void) { for (int i = 0; i < 100; i++) step(); return 0; }" >prog.c
cc_traced prog prog.c
limit "$VFTR" run -q --trace -o run -- ./prog || bail "no run"

cat >ask.py <<-EOF
	import http.client, sys
	method, path, origin, host, into = sys.argv[1:6]
	c = http.client.HTTPConnection('127.0.0.1', 9001, timeout=20)
	c.request(method, path, headers={**({'Origin': origin} if origin else {}), 'Host': host})
	r = c.getresponse()
	open(into, 'wb').write(r.read())
	print(r.status, r.getheader('Access-Control-Allow-Origin'), r.getheader('Content-Length'))
EOF
PAGE=https://ui.perfetto.dev
HERE=127.0.0.1:9001

# serving WORDS: vftr open in the background; path of its file is in "path"
serving() {
	rm -f address
	limit env -u DISPLAY -u WAYLAND_DISPLAY "$VFTR" open "$@" >address 2>said &
	served=$!
	wait_for 30 '[ -s address ]'
	grep "^$PAGE/#!/?url=http://$HERE/vftr-[0-9a-f]\{16\}\.pftrace\$" address
	sed 's|.*9001||' address >path
}

ask() {
	python3 ask.py "$@"
}

test_expect 'the page gets the time line, and then the command ends' '
	serving run
	"$VFTR" export -q -f perfetto -o wanted run
	is "200 $PAGE $(wc -c <wanted)" "$(ask HEAD "$(cat path)" $PAGE $HERE none)"
	is "200 $PAGE $(wc -c <wanted)" "$(ask GET "$(cat path)" $PAGE $HERE got)"
	wait $served
	cmp got wanted
	is "" "$(cat said; ls "${TMPDIR:-/tmp}" | grep vftr-open)"'

test_expect 'who is not the page, comes by another name or does not know the path gets nothing' '
	serving run
	for origin in "" https://evil.example "$PAGE.evil.example" http://ui.perfetto.dev; do
		is "403 $PAGE 0" "$(ask GET "$(cat path)" "$origin" $HERE none)"
	done
	is "403 $PAGE 0" "$(ask GET "$(cat path)" $PAGE evil.example none)"
	is "403 $PAGE 0" "$(ask GET "$(cat path)" $PAGE 127.0.0.1.evil.example none)"
	is "404 $PAGE 0" "$(ask GET /vftr-0000000000000000.pftrace $PAGE $HERE none)"
	is "404 $PAGE 0" "$(ask GET "$(cat path)x" $PAGE $HERE none)"
	is "404 $PAGE 0" "$(ask POST "$(cat path)" $PAGE $HERE none)"
	is "204 $PAGE 0" "$(ask OPTIONS "$(cat path)" $PAGE $HERE none)"
	[ ! -s none ]
	kill -0 $served
	is "200 $PAGE" "$(ask GET "$(cat path)" $PAGE $HERE got | cut -d" " -f1,2)"
	wait $served'

test_expect 'a file is handed over as it is; nonsense does not end the server, a signal does' '
	head -c 3000000 /dev/urandom >any.pftrace
	serving -n any.pftrace
	python3 -c "
	import socket
	for text in (b\"\", b\"GET\", b\"\\r\\n\\r\\n\", b\"\\0\" * 100, b\"GET / HTTP/1.1\\r\\n\" * 2000):
		s = socket.create_connection((\"127.0.0.1\", 9001)); s.sendall(text); s.close()" 2>/dev/null || :
	is "200 $PAGE 3000000" "$(ask GET "$(cat path)" $PAGE $HERE got)"
	wait $served
	cmp got any.pftrace
	serving any.pftrace
	status_of 2 limit "$VFTR" open -n any.pftrace 2>err
	has err "port 9001 of 127.0.0.1"
	kill -TERM $(pgrep -P $served) || kill -TERM $served
	wait $served || :
	has said "stopped by a signal"'

test_expect 'a signal ends it while a page is fetching the file, too' '
	truncate -s 64M long.pftrace
	serving -n long.pftrace
	python3 -c "
import signal, socket, sys
s = socket.create_connection((\"127.0.0.1\", 9001))
s.sendall((\"GET %s HTTP/1.1\r\nOrigin: %s\r\nHost: %s\r\n\r\n\" % tuple(sys.argv[1:])).encode())
s.recv(1000)
open(\"stalled\", \"w\")
signal.pause()" "$(cat path)" $PAGE $HERE &
	client=$!
	wait_for 30 "[ -e stalled ]"
	kill -TERM $(pgrep -P $served)
	status_of 2 wait $served
	kill $client
	is "vftr: open: the page did not fetch it: stopped by a signal" "$(cat said)"'

cat >"$PWD/viewer" <<-"EOF"
	#!/bin/sh
	printf '%s\n' "$@" >seen
	for last; do :; done
	echo "$last" >seen-path
	cp "$last" seen-file
	exit ${ENDS:-0}
EOF
chmod +x viewer
ln -s viewer vampir

test_expect 'a viewer of one s own gets the time line as a file, which is gone with it' '
	limit "$VFTR" open --viewer "./viewer -x \"two words\"" run >out 2>said
	"$VFTR" export -q -f perfetto -o wanted run
	cmp seen-file wanted
	is "-x|two words" "$(head -n 2 seen | paste -sd"|")"
	[ ! -e "$(cat seen-path)" ]
	is "" "$(cat out said; ls "${TMPDIR:-/tmp}" | grep vftr-open)"
	VFTR_VIEWER=./viewer limit "$VFTR" open -f chrome run
	jq -e ".traceEvents | length > 100" seen-file
	printf "{\"open\": {\"viewer\": \"./viewer -y\"}}" >conf.json
	rm seen*
	VFTR_CONFIG=conf.json limit "$VFTR" open -f chrome run
	is -y "$(head -n 1 seen)"
	VFTR_SET="open.viewer=./viewer" limit "$VFTR" open -f chrome run
	is 1 "$(wc -l <seen)"
	rm seen
	limit "$VFTR" run -q -o profile -- ./prog
	status_of 2 limit "$VFTR" open -v ./viewer profile 2>err
	is "vftr: open: profile has no time line: record one with vftr run --trace" "$(cat err)"
	limit "$VFTR" open -v ./viewer -f folded profile
	VFTR_VIEWER=./viewer VFTR_CONFIG=none.json limit "$VFTR" open -f chrome run
	VFTR_CONFIG=none.json status_of 2 limit "$VFTR" open run 2>err
	has err none.json
	echo any >any.txt
	VFTR_VIEWER=./viewer limit "$VFTR" open any.txt
	is "any.txt any" "$(cat seen-path seen-file | paste -sd" ")"'

test_expect 'how the viewer ended is told, and a page is asked for nothing but Perfetto s format' '
	ENDS=3 status_of 1 limit "$VFTR" open -v ./viewer run 2>err
	is "vftr: open: the viewer \`./viewer'"'"' ended with status 3" "$(cat err)"
	status_of 2 limit "$VFTR" open -v ./none run 2>err
	has err "cannot start the viewer \`./none"
	status_of 2 limit "$VFTR" open -v ./viewer -f nonsense run 2>err
	has err nonsense
	status_of 2 limit "$VFTR" open -f chrome run 2>err
	has err "Perfetto"
	is "" "$(ls "${TMPDIR:-/tmp}" | grep vftr-open)"'

otf2=$("$VFTR" export -q -f otf2 -o probe run >/dev/null 2>&1 && echo yes)
test_if '[ -n "$otf2" ]' 'no OTF2' 'Vampir gets the anchor file of an archive' '
	limit "$VFTR" open -v ./vampir run
	is traces.otf2 "$(basename "$(cat seen-path)")"
	is "$(head -c 32 probe/traces.otf2 | cksum)" "$(head -c 32 seen-file | cksum)"'

test_expect 'what is not there is one clear sentence' '
	status_of 2 limit "$VFTR" open nothing 2>err
	is "vftr: open: nothing: No such file or directory" "$(cat err)"
	mkdir empty
	status_of 2 limit "$VFTR" open empty 2>err
	is 1 "$(wc -l <err)"
	status_of 2 limit "$VFTR" open 2>err
	has err "name one folder or file"
	is "" "$(ls "${TMPDIR:-/tmp}" | grep vftr-open)"'

done_testing
