// SPDX-License-Identifier: Apache-2.0
// Called from Python.

unsigned mix_words(unsigned rounds);

unsigned mix_words(unsigned rounds)
{
    unsigned x = 1;
    for (unsigned i = 0; i < rounds; i++)
        x = (x * 1664525u + 1013904223u) ^ (x >> 7);
    return x;
}
