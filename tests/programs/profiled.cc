// SPDX-License-Identifier: Apache-2.0
// A C++ program that profiles itself to the file of its argument: exceptions, templates, threads.

#include <assay/profile.h>

#include <stdexcept>
#include <thread>

#include "profiled.h"

PROFILED_WORK(first, 1)
PROFILED_WORK(second, 2)

template <typename Work> __attribute__((noinline)) static double guarded(Work work)
{
    try {
        work();
        throw std::runtime_error("as planned");
    } catch (const std::runtime_error &) {
        return profiled_cpu_ms();
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || assay_profile_start(nullptr) != 0)
        return 1;
    std::thread other([] { guarded([] { first(50), second(150); }); });
    guarded([] { first(50), second(150); });
    other.join();
    return assay_profile_stop() || assay_profile_dump(argv[1]) ? 1 : 0;
}
