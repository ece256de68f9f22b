// SPDX-License-Identifier: Apache-2.0
// Options of the commands that read coverage: which inputs, which sources, which marks.
// They fill a CoverRequest (coverage/inputs.h).

#ifndef CLI_COVER_COVER_OPTIONS_H
#define CLI_COVER_COVER_OPTIONS_H

#include "cli/option.h"
#include "coverage/inputs.h"

#define COVER_FILTER_OPTIONS(S, field)                                                             \
    OPT_LIST(0, "include", S, field.include, "GLOB", "only source files whose path matches"),      \
        OPT_LIST(0, "exclude", S, field.exclude, "GLOB", "no source files whose path matches"),    \
        OPT_TEXT(0, "ignore-filename-regex", S, field.ignore_regex, "REGEX",                       \
                 "no source files whose path matches the extended regular expression"),            \
        OPT_LIST(0, "prefix-map", S, field.prefix_maps, "OLD=NEW",                                 \
                 "in paths of sources, replace OLD at the beginning by NEW"),                      \
        OPT_LIST(0, "path-equivalence", S, field.equivalences, "OLD,NEW",                          \
                 "llvm-cov's spelling of the same"),                                               \
        OPT_LIST('I', "source-dir", S, field.source_folders, "DIR", "search sources here too"),    \
        OPT_FLAG(0, "no-exclusions", S, field.no_exclusions,                                       \
                 "count also the lines with LCOV_EXCL_, GCOVR_EXCL_ and GRCOV_EXCL_ marks"),       \
        OPT_TEXT(0, "excl-line", S, field.patterns[COVER_PATTERN_LINE], "REGEX",                   \
                 "leave out lines that match the extended regular expression"),                    \
        OPT_TEXT(0, "excl-start", S, field.patterns[COVER_PATTERN_START], "REGEX",                 \
                 "leave out the lines from a matching one on"),                                    \
        OPT_TEXT(0, "excl-stop", S, field.patterns[COVER_PATTERN_STOP], "REGEX",                   \
                 "with --excl-start: up to a matching line, or the end of the file"),              \
        OPT_TEXT(0, "excl-br-line", S, field.patterns[COVER_PATTERN_BR_LINE], "REGEX",             \
                 "the same as --excl-line for branches only"),                                     \
        OPT_TEXT(0, "excl-br-start", S, field.patterns[COVER_PATTERN_BR_START], "REGEX",           \
                 "the same as --excl-start for branches only"),                                    \
        OPT_TEXT(0, "excl-br-stop", S, field.patterns[COVER_PATTERN_BR_STOP], "REGEX",             \
                 "the same as --excl-stop for branches only"),                                     \
        OPT_FLAG(0, "all-sources", S, field.all_sources,                                           \
                 "with a folder of 'cover run': also the sources that the run left out")

#define COVER_INPUT_OPTIONS(S, field)                                                              \
    OPT_LIST(0, "object", S, field.objects, "FILE", "an object with coverage mapping"),            \
        OPT_TEXT(0, "arch", S, field.arch, "NAME",                                                 \
                 "the part of universal binaries, such as x86_64 (default: this machine's)"),      \
        OPT_TEXT(0, "instr-profile", S, field.profile, "FILE", "a profile; llvm-cov's spelling"),  \
        COVER_FILTER_OPTIONS(S, field.filter),                                                     \
        OPT_FLAG(0, "llvm-rules", S, field.llvm_rules,                                             \
                 "as llvm-cov: drop functions of another build, keep negative counts, count a "    \
                 "line as often as a block of clang --coverage lists it"),                         \
        OPT_FLAG(0, "explain", S, field.explain,                                                   \
                 "print on stderr every function that could not be counted, and why")

// Spellings that users of llvm-cov, lcov and gcovr know, of the commands that read coverage.
#define COVER_FOREIGN_OPTIONS                                                                      \
    {'b', "branches", FOREIGN_REFUSED,                                                             \
     "leave it out: branches are counted where inputs have them"},                                 \
        {0, "use-color", FOREIGN_REFUSED, "--color always"},                                       \
        {0, "num-threads", FOREIGN_REFUSED, "leave it out"},                                       \
        {0, "compilation-dir", FOREIGN_REFUSED, "-I DIR also searches sources in DIR"},            \
        {0, "debug-file-directory", FOREIGN_REFUSED, "name the program or its debug file"},        \
        {0, "check-binary-ids", FOREIGN_IGNORED, NULL},                                            \
        {0, "filter", FOREIGN_REFUSED, "--include GLOB"},                                          \
    {                                                                                              \
        0, "exclude-files", FOREIGN_REFUSED, "--exclude GLOB"                                      \
    }

#endif // CLI_COVER_COVER_OPTIONS_H
