# SPDX-License-Identifier: Apache-2.0
# Half of its time in Python, half in C.

import ctypes
import os
import sys
import time

library = ctypes.CDLL(os.path.join(os.path.dirname(os.path.abspath(__file__)), "libmixing.so"))


def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts


def mix_in_c():
    return library.mix_words(200000)


def read_files(until):
    half = time.process_time() + (until - time.process_time()) / 2
    while time.process_time() < half:
        count_words("the quick brown fox jumps over the lazy dog " * 50)
    while time.process_time() < until:
        mix_in_c()


read_files(time.process_time() + float(sys.argv[1]) / 1000)
print("python: done")
