# SPDX-License-Identifier: BSD-3-Clause
"""make-paths.py N: a profile of N call paths as vftr-profile(5) has it, four below each."""
import sys

NAMES = 2000
ROW = ('\t\t{"id":%d,"hash":"%016x","path":"%s","function":"%s","caller":%s,"parent":%d,'
       '"calls":%d,"t_incl_s":%.9f,"t_excl_s":%.9f,"ranks":%d,"t_excl_min_s":%.9f,'
       '"t_excl_max_s":%.9f,"t_excl_deviation_s":%.9f,"rank_min":%d,"rank_max":%d,'
       '"imbalance_percent":%.9f,"imbalance_rank":%d,"overhead_s":%.9f,"lost":0,'
       '"estimated":false}')


def name_of(i):
    return "f%d" % (i % NAMES) if i else "init"


def row(i, paths):
    parent = (i - 1) // 4 if i else -1
    paths.append(name_of(i) + ("<" + paths[parent] if i else ""))
    time = (i * 7919 % 1000003) * 1e-6
    return ROW % (i, i * 0x9e3779b97f4a7c15 % (1 << 64), paths[i], name_of(i),
                  '"%s"' % name_of(parent) if i else "null", parent, i * 31 % 1000, 2 * time,
                  time, i % 8 + 1, time / 20, time / 7, time / 30, i % 8, i * 3 % 8, i % 100,
                  i % 8, time / 100)


def function(k, n):
    numbers = range(k, n, NAMES)
    if not k:
        numbers = range(NAMES, n, NAMES)
    return '\t\t{"function":"%s","calls":%d,"t_incl_s":%.9f,"t_excl_s":%.9f,"stacks":[%s]}' % (
        name_of(k) if k else "f0", k, k * 0.002, k * 0.001, ",".join(map(str, numbers)))


def main(n):
    out, paths = sys.stdout, []
    out.write('{\n\t"format":"vftr-profile",\n\t"version":1,\n\t"ranks":8,\n\t"stacks":[\n')
    for i in range(n):
        out.write((",\n" if i else "") + row(i, paths))
    out.write('\n\t],\n\t"functions":[\n\t\t{"function":"init","calls":0,"t_incl_s":0.0,'
              '"t_excl_s":0.0,"stacks":[0]}')
    for k in range(min(n, NAMES)):
        out.write(",\n" + function(k, n))
    out.write("\n\t]\n}\n")


main(int(sys.argv[1]))
