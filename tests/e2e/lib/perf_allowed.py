#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Status 0 when the kernel lets this user sample a process of its own; else 1 and the reason.

Asks the kernel itself, so that a test is never skipped because the product failed."""
import ctypes
import errno
import os
import platform
import struct
import sys

NUMBER = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
SOFTWARE, CPU_CLOCK, SAMPLE_IP = 1, 0, 1
DISABLED, EXCLUDE_KERNEL, EXCLUDE_HV = 1 << 0, 1 << 5, 1 << 6


def main():
    if NUMBER is None:
        print(f"no perf_event_open known for {platform.machine()}")
        return 1
    attr = struct.pack("=IIQQQQQ", SOFTWARE, 64, CPU_CLOCK, 1000000, SAMPLE_IP, 0,
                       DISABLED | EXCLUDE_KERNEL | EXCLUDE_HV).ljust(64, b"\0")
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(NUMBER, attr, 0, -1, -1, ctypes.c_ulong(8))
    if fd >= 0:
        os.close(fd)
        return 0
    number = ctypes.get_errno()
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as f:
        paranoid = f.read().strip()
    print(f"perf_event_open is refused here: {errno.errorcode.get(number, number)}, "
          f"kernel.perf_event_paranoid is {paranoid}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
