// SPDX-License-Identifier: Apache-2.0
// Expressions over several lines, which a block of clang --coverage lists again and again.
// clang-format off
static int g(int n) { return n & 1; }
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += g(i) +
               g(i + 1) +
               g(i + 2);
    for (int i = 0; i < 7; i++)
        if (g(i) +
            g(i + 1) +
            g(i + 2) > 1)
            sum++;
    return sum == 0;
}
// clang-format on
