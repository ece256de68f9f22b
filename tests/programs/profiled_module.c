// SPDX-License-Identifier: Apache-2.0
// A module for `profiled modules`; NAME is the function that has its time.

#include "profiled.h"

PROFILED_WORK(NAME, 1)

void work(double ms);
void work(double ms)
{
    NAME(ms);
    profiled_sink++; // no tail call
}
