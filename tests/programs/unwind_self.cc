// SPDX-License-Identifier: Apache-2.0
// Work for the unwinder's self-test: C++ with exceptions, std::regex, recursion
// and wide vectors that realign the stack.

#include <algorithm>
#include <map>
#include <regex>
#include <stdexcept>
#include <string>
#include <vector>

typedef double Wide __attribute__((vector_size(64)));

static __attribute__((noinline)) Wide multiply(Wide a, int n)
{
    Wide sums[4] = {a, a, a, a};
    for (int i = 0; i < n; i++)
        sums[i % 4] = sums[(i + 1) % 4] * 1.25 + a;
    return sums[0] + sums[3];
}

static int search(const std::string &text, int depth)
{
    static const std::regex pattern("(([a-z]+)[0-9]+)+(x|yy)*");
    std::smatch match;
    if (depth > 0 && depth % 5 != 0)
        return search(text + "a1", depth - 1) + depth;
    if (!std::regex_search(text, match, pattern))
        throw std::runtime_error("nothing");
    Wide start = {1, 2, 3, 4, 5, 6, 7, 8};
    Wide w = multiply(start, static_cast<int>(text.size()));
    return static_cast<int>(match.length(0)) + (w[0] > 0) + (depth ? search(text, depth - 1) : 0);
}

extern "C" int more_work(int depth);

extern "C" int more_work(int depth)
{
    std::map<std::string, int> found;
    std::vector<int> order;
    for (int i = 0; i < 5; i++) {
        std::string key(static_cast<size_t>(i + 1), static_cast<char>('a' + i));
        try {
            found[key] = search(key + (i == 3 ? "-" : "7x"), depth * (i != 3));
        } catch (const std::runtime_error &) {
            found[key] = -1;
        }
        order.push_back(found[key]);
    }
    std::sort(order.begin(), order.end(), [](int a, int b) { return a > b; });
    return order[0];
}
