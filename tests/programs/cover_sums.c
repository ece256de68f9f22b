// SPDX-License-Identifier: Apache-2.0
// Lines of several blocks, for gcc -O0. gcov before gcc 8 gives a line the sum of its blocks: lines
// 9 to 12 have 22, 10, 12, 3. Later ones count how often control came to the line: 11, 5, 4, 1.
// clang-format off
int main(int argc, char **argv)
{
    int sum = 0;
    (void)argv;
    for (int i = 0; i < 10; i++) sum += i;
    for (int i = 0; i < 4; i++)
        sum += argc > 1 ? i : -i;
    if (sum > 3 && argc < 9) sum = 0;
    return sum == 99;
}
// clang-format on
