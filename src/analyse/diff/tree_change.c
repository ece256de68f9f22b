// SPDX-License-Identifier: Apache-2.0
// CallNodes of two trees side by side.

#include "analyse/diff/tree_change.h"

#include "analyse/diff/profile_diff.h"
#include "base/intern.h"

// The other tree's calls by caller and name. Functions that one name stands for are one call.
typedef struct CallNodes {
    Table table;      // of nodes, by caller and name
    uint32_t *caller; // [node]: the node that stands for its caller
    uint32_t *name;   // [node]
    uint32_t *first;  // [node]: the node that stands for it
    uint64_t *total;  // [node that stands for others]
} CallNodes;

static uint32_t name_of(const CallTree *t, uint32_t node, Intern *names, StrBuf *name,
                        StrBuf *stable)
{
    strbuf_clear(name);
    strbuf_clear(stable);
    call_tree_add_name(t, node, name);
    diff_add_stable_name(strbuf_str(name), stable);
    return intern_add(names, strbuf_str(stable));
}

static uint64_t hash_of(uint32_t caller, uint32_t name)
{
    return hash_u64((uint64_t)caller << 32 | name);
}

static uint32_t find_call(const CallNodes *c, uint32_t caller, uint32_t name)
{
    uint32_t node;
    for (TableProbe p = table_probe(&c->table, hash_of(caller, name));
         table_next(&c->table, &p, &node);)
        if (c->caller[node] == caller && c->name[node] == name)
            return node;
    return NODE_NONE;
}

static void read_calls(CallNodes *c, Arena *arena, const CallTree *t, Intern *names)
{
    uint32_t count = call_tree_count(t);
    StrBuf name = {0}, stable = {0};
    c->caller = arena_array(arena, uint32_t, count + 1);
    c->name = arena_array(arena, uint32_t, count + 1);
    c->first = arena_array(arena, uint32_t, count + 1);
    c->total = arena_array(arena, uint64_t, count + 1);
    c->total[0] = t->nodes.at[0].total;
    for (uint32_t i = 1; i < count; i++) {
        c->caller[i] = c->first[t->nodes.at[i].parent];
        c->name[i] = name_of(t, i, names, &name, &stable);
        uint32_t first = find_call(c, c->caller[i], c->name[i]);
        if (first == NODE_NONE) {
            first = i;
            table_insert(&c->table, hash_of(c->caller[i], c->name[i]), i);
        }
        c->first[i] = first;
        c->total[first] += t->nodes.at[i].total;
    }
    strbuf_deinit(&name);
    strbuf_deinit(&stable);
}

uint64_t *tree_totals_of_other(Arena *arena, const CallTree *now, const CallTree *other)
{
    uint32_t count = call_tree_count(now);
    uint64_t *ret = arena_array(arena, uint64_t, count + 1);
    uint32_t *same = arena_array(arena, uint32_t, count + 1);
    StrBuf name = {0}, stable = {0};
    CallNodes calls = {0};
    Intern names;
    intern_init(&names, arena);
    read_calls(&calls, arena, other, &names);
    ret[0] = calls.total[0];
    for (uint32_t i = 1; i < count; i++) {
        uint32_t caller = same[now->nodes.at[i].parent];
        same[i] = caller == NODE_NONE
                      ? NODE_NONE
                      : find_call(&calls, caller, name_of(now, i, &names, &name, &stable));
        if (same[i] != NODE_NONE)
            ret[i] = calls.total[same[i]];
    }
    table_deinit(&calls.table);
    intern_deinit(&names);
    strbuf_deinit(&name);
    strbuf_deinit(&stable);
    return ret;
}
