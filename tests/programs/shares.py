# SPDX-License-Identifier: Apache-2.0
# Spends its argument in milliseconds of processor time: 3 of 4 parts in heavy, 1 in light. A third
# of heavy's part is called from C: by map, below by_c.

import sys
import threading
import time


def heavy(n):
    s = 0
    for i in range(n):
        s = (s * 31 + i) % 1000003
    return s


def light(n):
    s = 1
    for i in range(n):
        s = (s * 17 + i) % 1000003
    return s


def by_c(n):
    return max(map(heavy, [n]))


def outer(until, work):
    while time.thread_time() < until:
        for _ in range(10):
            work(2000)


def spend(milliseconds):
    part = milliseconds / 40000
    for _ in range(10):
        start = time.thread_time()
        outer(start + 2 * part, heavy)
        outer(start + 3 * part, by_c)
        outer(start + 4 * part, light)


if len(sys.argv) > 2:
    threads = [threading.Thread(target=spend, args=(float(sys.argv[1]) / 2,)) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
else:
    spend(float(sys.argv[1]))
print("done")
