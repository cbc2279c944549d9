# SPDX-License-Identifier: BSD-3-Clause
"""Reads a file of Prometheus' text format, strictly, and prints "name{label=value,...} number".

usage: prometheus.py FILE

It knows the format from its description alone, not from what writes it here: HELP and TYPE once
and before the series of a family, all series of a family together, each once, counters named
_total, base units, no time stamps, a newline at the end.
"""
import re
import sys

LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"'
SERIES = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(%s(?:,%s)*)?\})? (\S+)$' % (LABEL, LABEL))


def main():
    text = open(sys.argv[1], encoding='utf-8').read()
    kinds, helps, seen, family = {}, set(), set(), None
    assert text.endswith('\n'), 'no newline at the end'
    for line in text[:-1].split('\n'):
        word = line.split(' ', 3)
        if line.startswith('# HELP '):
            assert word[2] not in helps, 'two HELP: ' + line
            assert len(word) == 4 and '\\' not in word[3], line
            helps.add(word[2])
            continue
        if line.startswith('# TYPE '):
            assert word[2] not in kinds and word[3] in ('counter', 'gauge'), line
            assert (word[3] == 'counter') == word[2].endswith('_total'), 'name of ' + line
            kinds[word[2]] = word[3]
            family = word[2]
            continue
        m = SERIES.match(line)
        assert m, 'no series: ' + line
        assert m.group(1) == family and family in helps, 'not with its family: ' + line
        labels = re.findall(LABEL, m.group(2) or '')
        key = (m.group(1), tuple(sorted(labels)))
        assert key not in seen, 'twice: ' + line
        assert len(dict(labels)) == len(labels), 'a label twice: ' + line
        seen.add(key)
        value = float(line.rsplit(' ', 1)[1])
        assert value == value and value >= 0, 'value: ' + line
        print('%s{%s} %.9f' % (m.group(1), ','.join('%s=%s' % x for x in labels), value))
    assert set(kinds) == helps == {name for name, _ in seen}


main()
