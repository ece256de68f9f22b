// SPDX-License-Identifier: Apache-2.0
// Prints waits.

#include "cli/look/waits_screen.h"

#include "analyse/fit.h"
#include "cli/terminal.h"
#include "model/facts.h"

static void add_share(StrBuf *out, double share)
{
    strbuf_printf(out, "%.1f%%", 100 * share);
}

static double ratio(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}

static void add_classes(StrBuf *out, const WaitTotals *t)
{
    size_t before = out->len;
    for (int i = 0; i < WAIT_CLASS_COUNT; i++) {
        if (t->of[i] == 0 || ratio(t->of[i], t->all) < 0.0005)
            continue;
        strbuf_add(out, out->len > before ? STR(" · ") : STR(""));
        add_share(out, ratio(t->of[i], t->all));
        strbuf_printf(out, " %s", wait_class_name((WaitClass)i));
    }
    if (t->idle) {
        strbuf_add(out, STR(" · "));
        add_share(out, ratio(t->idle, t->all));
        strbuf_add(out, STR(" idle (--by class opens it)"));
    }
}

static void add_object(StrBuf *out, const Profile *p, StrId object, WaitClass state,
                       WaitPlace place)
{
    if (object.v) {
        strbuf_add_terminal(out, profile_text(p, object));
        return;
    }
    strbuf_printf(out, "%s in ", wait_class_name(state));
    wait_place_add(p, place, out);
}

static void add_headline(StrBuf *out, const Profile *p)
{
    WaitHeadline h;
    if (!wait_headline(p, &h))
        return;
    strbuf_printf(out, "%.0f %% of ", 100 * h.share);
    Str thread = profile_text(p, p->threads.name.at[h.thread.v]);
    ProcessId process = p->threads.process.at[h.thread.v];
    bool is_main = p->processes.pid.at[process.v] == p->threads.tid.at[h.thread.v];
    if (is_main)
        strbuf_add(out, STR("main"));
    else
        strbuf_add_terminal(out, thread);
    if (!is_main)
        strbuf_printf(out, " %u", p->threads.tid.at[h.thread.v]);
    strbuf_add(out, STR("'s time waits for "));
    add_object(out, p, h.object, h.state, h.place);
    if (h.holder.frame.v && h.state == WAIT_LOCK) {
        strbuf_add(out, STR(", held by "));
        wait_place_add(p, h.holder, out);
    }
    strbuf_add_char(out, '\n');
}

static size_t count_lines(Str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

static uint64_t python_lock_ns(const Profile *p)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < p->waits.thread.len; i++)
        if (str_equal(profile_text(p, p->waits.object.at[i]), STR(WAIT_PYTHON_LOCK)))
            sum += p->waits.blocked_ns.at[i];
    return sum;
}

size_t waits_add_summary(StrBuf *out, const Profile *p, size_t columns)
{
    if (p->waits.thread.len == 0)
        return 0;
    StrBuf text = {0};
    size_t before = out->len;
    WaitTotals t = wait_totals(p);
    strbuf_printf(&text, "%u thread%s for ", t.threads, t.threads == 1 ? "" : "s");
    add_value(&text, t.all, STR("ns"));
    strbuf_add(&text, STR(": "));
    add_classes(&text, &t);
    uint64_t python = python_lock_ns(p);
    if (python) {
        strbuf_add(&text, STR(" · " WAIT_PYTHON_LOCK " "));
        add_share(&text, ratio(python, t.all));
    }
    double missing;
    if (str_parse_double(profile_fact(p, STR(FACT_WAITS_MISSING)), &missing))
        strbuf_printf(&text, " · the classes miss %.2f%%", 100 * missing);
    Str how = profile_fact(p, STR(FACT_WAITS)), lift = profile_fact(p, STR(FACT_WAITS_LIFT));
    Str stacks = profile_fact(p, STR(FACT_WAITS_STACKS));
    strbuf_printf(&text, " · waits by %" STR_FMT, STR_ARG(how));
    if (stacks.len)
        strbuf_printf(&text, ", %" STR_FMT " stacks complete", STR_ARG(stacks));
    uint64_t lost;
    if (profile_fact_u64(p, STR(FACT_WAITS_LOST), &lost))
        strbuf_printf(&text, ", %llu lost", (unsigned long long)lost);
    if (lift.len)
        strbuf_printf(&text, " (%" STR_FMT ")", STR_ARG(lift));
    text_add_wrapped(out, strbuf_str(&text), columns, 2);
    strbuf_clear(&text);
    add_headline(&text, p);
    if (text.len)
        text_add_wrapped(out, str_trim(strbuf_str(&text)), columns, 2);
    strbuf_deinit(&text);
    return count_lines(str_slice(strbuf_str(out), before, out->len));
}

static void add_time(StrBuf *out, uint64_t ns)
{
    StrBuf text = {0};
    add_value(&text, ns, STR("ns"));
    size_t columns = str_columns(strbuf_str(&text));
    strbuf_add_repeated(out, ' ', columns < 9 ? 9 - columns : 0);
    strbuf_add(out, strbuf_str(&text));
    strbuf_deinit(&text);
}

static void add_line(StrBuf *out, const Profile *p, WaitBy by, const WaitLine *l, uint64_t all)
{
    add_time(out, l->total_ns);
    strbuf_printf(out, " %5.1f%% %8llu", 100 * ratio(l->total_ns, all),
                  (unsigned long long)l->count);
    if (by == WAIT_BY_LOCK || by == WAIT_BY_FILE) {
        add_time(out, l->p50_ns);
        add_time(out, l->p99_ns);
    }
    add_time(out, l->longest_ns);
    strbuf_add(out, STR("  "));
    if (by == WAIT_BY_CLASS) {
        strbuf_add(out, str_from_c(wait_class_name(l->state)));
    } else if (by == WAIT_BY_WAKER) {
        wait_place_add(p, l->other, out);
    } else {
        add_object(out, p, l->object, l->state, l->place);
        strbuf_add(out, STR(", waited for in "));
        wait_place_add(p, l->place, out);
    }
    if (l->other.frame.v && by != WAIT_BY_WAKER && by != WAIT_BY_CLASS) {
        strbuf_add(out, by == WAIT_BY_LOCK ? STR("; held by ") : STR("; woken by "));
        wait_place_add(p, l->other, out);
        strbuf_printf(out, " %.0f%%", 100 * l->other_share);
    }
    strbuf_add_char(out, '\n');
}

void waits_add_table(StrBuf *out, const Profile *p, WaitBy by, size_t limit)
{
    static const char *const names[] = {"class", "lock", "file, socket or pipe", "woken by"};
    static const Str none[] = {STR_INIT("no thread waited\n"),
                               STR_INIT("no thread waited for a lock\n"),
                               STR_INIT("no thread waited for a file, socket or pipe\n"),
                               STR_INIT("which threads ended waits is not known\n")};
    if (p->waits.thread.len == 0) {
        strbuf_add(out, STR("no waits were recorded: assay record --wait -- CMD\n"));
        return;
    }
    WaitLineVec lines = wait_lines(p, by, by == WAIT_BY_CLASS);
    if (lines.len == 0) {
        strbuf_add(out, none[by]);
        vec_free(&lines);
        return;
    }
    WaitTotals t = wait_totals(p);
    bool times = by == WAIT_BY_LOCK || by == WAIT_BY_FILE;
    strbuf_printf(out, "     time  share    waits%s  longest  %s\n",
                  times ? "      p50      p99" : "", names[by]);
    for (size_t i = 0; i < lines.len && (limit == 0 || i < limit); i++)
        add_line(out, p, by, &lines.at[i], t.all);
    if (by == WAIT_BY_CLASS && t.idle) {
        add_time(out, t.idle);
        strbuf_printf(out,
                      " %5.1f%%                    of these idle: loops that wait for work, "
                      "workers without it, joins\n",
                      100 * ratio(t.idle, t.all));
    }
    if (limit && lines.len > limit)
        strbuf_printf(out, "%zu more (--limit 0)\n", lines.len - limit);
    vec_free(&lines);
}

void waits_add_critical(StrBuf *out, const Critical *c, const Profile *p, size_t limit)
{
    if (c->lines.len == 0)
        strbuf_add(out, STR("no critical path: nothing is recorded in this part of "));
    else
        strbuf_add(out, STR("critical path of "));
    strbuf_add_terminal(out, profile_text(p, p->threads.name.at[c->last.v]));
    strbuf_printf(out, " %u", p->threads.tid.at[c->last.v]);
    if (c->lines.len == 0) {
        strbuf_add_char(out, '\n');
        return;
    }
    strbuf_add(out, STR(": "));
    add_value(out, c->total_ns, STR("ns"));
    strbuf_printf(out,
                  " over %llu change%s of thread; a line's time is the most that its speed-up "
                  "can gain\n",
                  (unsigned long long)c->steps, c->steps == 1 ? "" : "s");
    if (!str_equal(profile_fact(p, STR(FACT_WAITS)), STR("bpf")))
        strbuf_add(
            out, STR("which thread ended a wait was not recorded, because that needs BPF: the path "
                     "stays in one thread\n"));
    strbuf_add(out, STR("     time  share  thread           does\n"));
    for (size_t i = 0; i < c->lines.len && (limit == 0 || i < limit); i++) {
        const CriticalLine *l = &c->lines.at[i];
        add_time(out, l->ns);
        strbuf_printf(out, " %5.1f%%  ", 100 * ratio(l->ns, c->total_ns));
        Str name = text_prefix(profile_text(p, p->threads.name.at[l->thread.v]), 15);
        size_t before = out->len;
        strbuf_add_terminal(out, name);
        strbuf_add_repeated(out, ' ', 17 - MIN(out->len - before, (size_t)16));
        strbuf_add(out, str_from_c(wait_class_name(l->state)));
        if (l->object.v) {
            strbuf_add_char(out, ' ');
            strbuf_add_terminal(out, profile_text(p, l->object));
        }
        if (l->place.frame.v) {
            strbuf_add(out, STR(" in "));
            wait_place_add(p, l->place, out);
        } else if (l->state == WAIT_RUNNING) {
            strbuf_add(out, STR(", no sample"));
        }
        strbuf_add_char(out, '\n');
    }
    if (limit && c->lines.len > limit)
        strbuf_printf(out, "%zu more (--limit 0)\n", c->lines.len - limit);
}
