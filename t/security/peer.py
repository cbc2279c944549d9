#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""peer.py WHAT ARGUMENTS: an agent over TCP, written from vftr-peers(7) alone, without a library
for secrets. It is number 1 of two and dials number 0; or of three, and number 2 is to dial it.

    seal HEX-KEY NUMBER CONTENT     a frame of kind 1, tag 5 and its content, in hexadecimal
    meet PORT LIST SECRET           meets, exchanges frames, and is kept
    knock PORT LIST SECRET          knocks at number 2, first without a proof, and is dialed
    CASE PORT LIST SECRET           one of the strangers below, which must be refused
    relay PORT TO FILE              passes connections on, and writes all that passes to FILE
"""
import hashlib
import hmac
import os
import selectors
import socket
import struct
import sys

VERSION = 10  # of the protocol, vftr-peers(7)
WORD = 0xffffffff
PRIME = 2 ** 255 - 19


# RFC 8439
def quarter(s, a, b, c, d):
    for x, y, z, n in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & WORD
        z_ = s[z] ^ s[x]
        s[z] = (z_ << n | z_ >> 32 - n) & WORD


def block(key, counter, nonce):
    first = list(struct.unpack('<16I', b'expand 32-byte k' + key + struct.pack('<I', counter) + nonce))
    s = first[:]
    for _ in range(10):
        for column in range(4):
            quarter(s, column, 4 + column, 8 + column, 12 + column)
        for i in range(4):
            quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack('<16I', *((x + y) & WORD for x, y in zip(s, first)))


def chacha(key, nonce, text):
    stream = b''.join(block(key, 1 + i, nonce) for i in range((len(text) + 63) // 64))
    return bytes(x ^ y for x, y in zip(text, stream))


def poly(key, nonce, cipher):
    one_time = block(key, 0, nonce)
    r = int.from_bytes(one_time[:16], 'little') & 0x0ffffffc0ffffffc0ffffffc0fffffff
    text = cipher + bytes(-len(cipher) % 16) + struct.pack('<QQ', 0, len(cipher))
    total = 0
    for i in range(0, len(text), 16):
        total = (total + int.from_bytes(text[i:i + 16] + b'\1', 'little')) * r % (2 ** 130 - 5)
    total += int.from_bytes(one_time[16:32], 'little')
    return (total % 2 ** 128).to_bytes(16, 'little')


def seal(key, nonce, text):
    cipher = chacha(key, nonce, text)
    return cipher + poly(key, nonce, cipher)


def unseal(key, nonce, sealed):
    if poly(key, nonce, sealed[:-16]) != sealed[-16:]:
        sys.exit('a frame of the agent cannot be opened')
    return chacha(key, nonce, sealed[:-16])


# RFC 7748
def x25519(scalar, point):
    k = int.from_bytes(scalar, 'little') & ~7 & (1 << 255) - 1 | 1 << 254
    u = int.from_bytes(point, 'little') & (1 << 255) - 1
    x2, z2, x3, z3, swap = 1, 0, u, 1, 0
    for t in reversed(range(255)):
        bit = k >> t & 1
        if swap ^ bit:
            x2, x3, z2, z3 = x3, x2, z3, z2
        swap = bit
        a, b, c, d = x2 + z2, x2 - z2, x3 + z3, x3 - z3
        aa, bb, da, cb = a * a, b * b, d * a, c * b
        e = aa - bb
        x3, z3 = (da + cb) ** 2 % PRIME, u * (da - cb) ** 2 % PRIME
        x2, z2 = aa * bb % PRIME, e * (aa + 121665 * e) % PRIME
    if swap:
        x2, z2 = x3, z3
    return (x2 * pow(z2, PRIME - 2, PRIME) % PRIME).to_bytes(32, 'little')


FRAME = struct.Struct('=QQQIIII')  # seq ack left kind tag bytes unused


def make_frame(key, number, seq, ack, kind, tag=0, content=b''):
    sealed = seal(key, struct.pack('=QI', number, 0),
                  FRAME.pack(seq, ack, len(content), kind, tag, len(content), 0))
    return sealed + (seal(key, struct.pack('=QI', number, 1), content) if content else b'')


class Meeting:
    def __init__(self, port, contacts, secret, **other):
        self.secret, self.received = secret, 0
        self.own = os.urandom(32)
        share = other.get('share') or x25519(self.own, (9).to_bytes(32, 'little'))
        self.hello = struct.pack(
            '=8sIIIIIIQQ32s32s64s64s', b'vftrpeer', other.get('version', VERSION), 0x01020304,
            other.get('purpose', 1), 1, other.get('to', 0), contacts.count(',') + 1,
            other.get('life', 77), 0, share,
            hashlib.sha256(contacts.encode()).digest(), b'elsewhere', b'')
        self.hello += self.hmac(b'hello', self.hello)
        if 'hello' in other:
            self.hello = other['hello']
        self.socket = socket.create_connection(('127.0.0.1', int(port)), 10)
        self.socket.settimeout(20)

    def hmac(self, *texts):
        return hmac.new(self.secret, b''.join(texts), 'sha256').digest()

    def greet(self):
        """Sends HELLO; the verdict, or None: it was not answered."""
        self.socket.sendall(self.hello)
        self.welcome = self.receive(264)
        if self.welcome is None:
            return None
        magic, version, order, self.verdict = struct.unpack('=8sIII', self.welcome[:20])
        if (magic, version, order) != (b'vftrpeer', VERSION, 0x01020304):
            sys.exit('its first words are others')
        if self.verdict in (1, 2, 9):
            if any(self.welcome[20:]):
                sys.exit('who has proved nothing learns more than the verdict')
        elif self.welcome[232:] != self.hmac(b'listener', self.hello, self.welcome[:232]):
            sys.exit('the listener does not know the secret')
        return self.verdict

    def prove(self, wrong=False):
        proof = self.hmac(b'dialer', self.hello, self.welcome[:232])
        self.socket.sendall(bytes(32) if wrong else proof)
        common = x25519(self.own, self.welcome[40:72])
        both = self.hello + self.welcome[:232] + common
        self.out, self.into = (self.hmac(b"dialer's frames", both),
                               self.hmac(b"listener's frames", both))
        self.n_out = self.n_in = 0

    def take(self, listener):
        """Instead of greet() and prove(): is dialed, by another connection, for a link."""
        self.socket.close()
        self.socket = listener.accept()[0]
        self.socket.settimeout(20)
        dialer = self.receive(272)
        if dialer[:28] != struct.pack('=8sIIIII', b'vftrpeer', VERSION, 0x01020304, 1, 2, 1):
            sys.exit('it does not dial for a link')
        if dialer[240:] != self.hmac(b'hello', dialer[:240]):
            sys.exit('the dialer does not know the secret')
        welcome = struct.pack(
            '=8sIIIIQQ32s32s64s64s', b'vftrpeer', VERSION, 0x01020304, 0, 0, 77, 0,
            x25519(self.own, (9).to_bytes(32, 'little')), self.hello[80:112], b'elsewhere', b'')
        self.socket.sendall(welcome + self.hmac(b'listener', dialer, welcome))
        if self.receive(32) != self.hmac(b'dialer', dialer, welcome):
            sys.exit('the dialer does not prove it')
        both = dialer + welcome + x25519(self.own, dialer[48:80])
        self.into, self.out = (self.hmac(b"dialer's frames", both),
                               self.hmac(b"listener's frames", both))
        self.n_out = self.n_in = 0

    def receive(self, n):
        """None: it has closed the connection."""
        got = b''
        while len(got) < n:
            try:
                part = self.socket.recv(n - len(got))
            except ConnectionResetError:
                part = b''
            if not part:
                return None
            got += part
        return got

    def frame(self):
        """(kind, seq, ack, content), or None."""
        sealed = self.receive(56)
        if sealed is None:
            return None
        seq, ack, left, kind, tag, n, unused = FRAME.unpack(
            unseal(self.into, struct.pack('=QI', self.n_in, 0), sealed))
        if not 1 <= kind <= 7 or unused or tag > 1000:
            sys.exit('a frame makes no sense')
        content = b''
        if n:
            sealed = self.receive(n + 16)
            if sealed is None:
                return None
            content = unseal(self.into, struct.pack('=QI', self.n_in, 1), sealed)
        self.n_in += 1
        self.received = seq or self.received
        return kind, seq, ack, content

    def send(self, seq, kind, content=b'', number=None, change=None):
        f = bytearray(make_frame(self.out, self.n_out if number is None else number, seq,
                                 self.received, kind, 0, content))
        if change is not None:
            f[change] ^= 1
        self.socket.sendall(f)
        self.n_out += 1

    def is_closed(self):
        """Frames that come before are opened, too."""
        while self.frame():
            pass
        return True

    def acknowledges(self, seq):
        while True:
            f = self.frame()
            if not f:
                return False
            if f[2] >= seq:
                return True


def met(*where, **other):
    m = Meeting(*where, **other)
    if m.greet() != 0:
        sys.exit('not welcome: %s' % m.verdict)
    m.prove()
    return m


def meet(*where):
    m = met(*where)
    m.send(1, 7)  # a check, which is to be acknowledged
    if not m.acknowledges(1):
        sys.exit('the check was not acknowledged')
    m.send(0, 4)
    m.send(2, 7)
    return m.acknowledges(2)


def knock(port, contacts, secret):
    listener = socket.create_server(('127.0.0.1', int(contacts.split(',')[1].split(':')[1].split('/')[0])))
    for wrong in (True, False):
        listener.setblocking(False)
        m = Meeting(port, contacts, secret, purpose=3, to=2)
        if m.greet() != 0:
            sys.exit('not welcome: %s' % m.verdict)
        try:
            listener.accept()
            sys.exit('who has proved nothing is dialed')
        except BlockingIOError:
            pass
        m.prove(wrong)
        if m.receive(1) is not None:
            sys.exit('a knock is not over by its proof')
    listener.settimeout(20)
    m.take(listener)
    m.send(1, 7)
    return m.acknowledges(1)


def changed(*where):
    m = met(*where)
    m.send(1, 7, change=20)
    return m.is_closed()


def repeated(*where):
    m = met(*where)
    m.send(0, 4)
    m.send(0, 4, number=0)
    return m.is_closed()


def left_out(*where):
    m = met(*where)
    m.send(0, 4, number=1)
    return m.is_closed()


def replayed(*where):
    m = met(*where)
    return Meeting(*where, hello=m.hello).greet() is None


def older(*where):
    return Meeting(*where, version=VERSION - 1).greet() == 1


def newer(*where):
    return Meeting(*where, version=VERSION + 1).greet() == 1


def stranger(port, contacts, secret):
    return Meeting(port, contacts, secret + b'x').greet() == 9


def proofless(*where):
    m = Meeting(*where)
    if m.greet() != 0:
        return False
    m.prove(wrong=True)
    return m.receive(1) is None


def shareless(*where):
    m = Meeting(*where, share=bytes(32))
    if m.greet() != 0:
        return False
    m.prove()
    return m.receive(1) is None


def relay(port, to, path):
    listener = socket.create_server(('127.0.0.1', int(port)))
    watched = selectors.DefaultSelector()
    watched.register(listener, selectors.EVENT_READ)
    with open(path, 'wb', 0) as all_of_it:
        while True:
            for key, _ in watched.select():
                if key.fileobj is listener:
                    a = listener.accept()[0]
                    try:
                        b = socket.create_connection(('127.0.0.1', int(to)))
                    except OSError:
                        a.close()
                        continue
                    watched.register(a, selectors.EVENT_READ, b)
                    watched.register(b, selectors.EVENT_READ, a)
                    continue
                try:
                    part = key.fileobj.recv(65536)
                    key.data.sendall(part)
                except OSError:
                    part = b''
                all_of_it.write(part)
                if not part:
                    for s in (key.fileobj, key.data):
                        watched.unregister(s)
                        s.close()
                    break


def main(what, *arguments):
    if what == 'seal':
        key, number, content = bytes.fromhex(arguments[0]), int(arguments[1]), arguments[2].encode()
        print(make_frame(key, number, 1, 2, 1, 5, content).hex())
        return True
    if what == 'relay':
        relay(*arguments)
    port, contacts, path = arguments
    with open(path, 'rb') as f:
        return globals()[what](port, contacts, f.read().strip())


if __name__ == '__main__':
    sys.exit(0 if main(*sys.argv[1:]) else 'it is as if nothing were wrong')
