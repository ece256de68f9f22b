// SPDX-License-Identifier: Apache-2.0
// Deep and changing stacks without frame pointers: a recursive walk over a tree
// whose leaves match a std::regex, whose matcher recurses for every character.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <regex>
#include <string>
#include <vector>

struct Node {
    std::string text;
    std::vector<std::unique_ptr<Node>> children;
};

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static std::unique_ptr<Node> make(int depth, unsigned *random)
{
    auto node = std::make_unique<Node>();
    for (int i = 0; i < 60; i++)
        node->text += "abcde \t01"[next_random(random) % 9];
    if (depth > 0)
        for (unsigned i = 0; i < 1 + next_random(random) % 3; i++)
            node->children.push_back(make(depth - 1, random));
    return node;
}

static long count(const Node &node, const std::regex &pattern)
{
    long n = std::regex_search(node.text, pattern);
    for (const auto &child : node.children)
        n += count(*child, pattern);
    return n;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    unsigned random = 7;
    auto root = make(12, &random);
    std::regex pattern("^([a-e0-9\\s]|xy)*(d|e)+[0-9]*$");
    long n = 0;
    for (int i = 0; i < rounds; i++)
        n += count(*root, pattern);
    std::printf("%ld\n", n);
    return 0;
}
