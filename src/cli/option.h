// SPDX-License-Identifier: Apache-2.0
// Commands and their options as tables. One table yields parsing, --help, shell
// completion and the check that the man page lists the same options.

#ifndef CLI_OPTION_H
#define CLI_OPTION_H

#include "base/vec.h"

typedef enum OptionKind {
    OPTION_FLAG,     // bool
    OPTION_NO_FLAG,  // bool, the option clears it
    OPTION_COUNT,    // unsigned, +1 each time
    OPTION_TEXT,     // Str
    OPTION_OPTIONAL, // Str; the argument is optional and only taken from --name=ARG; without
                     // it the field becomes the table's `choices` text up to the first '|'
    OPTION_CHOICE,   // Str, one of `choices`
    OPTION_LIST,     // StrVec, may be repeated
    OPTION_U64,      // uint64_t, decimal or 0x…
    OPTION_I64,      // int64_t
    OPTION_DOUBLE,   // double
    OPTION_PERCENT,  // double, "5%" or "5"; the field holds 5.0
    OPTION_DURATION, // int64_t ns; "2", "1.5s", "200ms", "10us", "3m"; no unit is seconds
    OPTION_MILLIS,   // int64_t ns; the same, but no unit is milliseconds (perf's -D, -I)
    OPTION_SIZE,     // uint64_t bytes; "64k", "1M", "2G"; powers of 1024
} OptionKind;

typedef struct Option {
    char letter;      // 0: long form only
    const char *name; // NULL: short form only
    OptionKind kind;
    size_t offset;       // of the field in the command's options struct
    const char *arg;     // the argument's name in the help, NULL for flags
    const char *choices; // "auto|dwarf|fp" for OPTION_CHOICE and OPTION_OPTIONAL
    const char *help;    // one sentence, lower case, no full stop
} Option;

// offsetof with a check that the field has the type the option kind writes.
#define OPTION_FIELD(S, field, T)                                                                  \
    (offsetof(S, field) +                                                                          \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((S *)0)->field), T) ? 1 : -1]))

#define OPT_FLAG(letter, name, S, field, help)                                                     \
    {                                                                                              \
        letter, name, OPTION_FLAG, OPTION_FIELD(S, field, bool), NULL, NULL, help                  \
    }
#define OPT_NO_FLAG(letter, name, S, field, help)                                                  \
    {                                                                                              \
        letter, name, OPTION_NO_FLAG, OPTION_FIELD(S, field, bool), NULL, NULL, help               \
    }
#define OPT_COUNT(letter, name, S, field, help)                                                    \
    {                                                                                              \
        letter, name, OPTION_COUNT, OPTION_FIELD(S, field, unsigned), NULL, NULL, help             \
    }
#define OPT_TEXT(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_TEXT, OPTION_FIELD(S, field, Str), arg, NULL, help                    \
    }
#define OPT_OPTIONAL(letter, name, S, field, arg, choices, help)                                   \
    {                                                                                              \
        letter, name, OPTION_OPTIONAL, OPTION_FIELD(S, field, Str), arg, choices, help             \
    }
#define OPT_CHOICE(letter, name, S, field, arg, choices, help)                                     \
    {                                                                                              \
        letter, name, OPTION_CHOICE, OPTION_FIELD(S, field, Str), arg, choices, help               \
    }
#define OPT_LIST(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_LIST, OPTION_FIELD(S, field, StrVec), arg, NULL, help                 \
    }
#define OPT_U64(letter, name, S, field, arg, help)                                                 \
    {                                                                                              \
        letter, name, OPTION_U64, OPTION_FIELD(S, field, uint64_t), arg, NULL, help                \
    }
#define OPT_I64(letter, name, S, field, arg, help)                                                 \
    {                                                                                              \
        letter, name, OPTION_I64, OPTION_FIELD(S, field, int64_t), arg, NULL, help                 \
    }
#define OPT_DOUBLE(letter, name, S, field, arg, help)                                              \
    {                                                                                              \
        letter, name, OPTION_DOUBLE, OPTION_FIELD(S, field, double), arg, NULL, help               \
    }
#define OPT_PERCENT(letter, name, S, field, arg, help)                                             \
    {                                                                                              \
        letter, name, OPTION_PERCENT, OPTION_FIELD(S, field, double), arg, NULL, help              \
    }
#define OPT_DURATION(letter, name, S, field, arg, help)                                            \
    {                                                                                              \
        letter, name, OPTION_DURATION, OPTION_FIELD(S, field, int64_t), arg, NULL, help            \
    }
#define OPT_MILLIS(letter, name, S, field, arg, help)                                              \
    {                                                                                              \
        letter, name, OPTION_MILLIS, OPTION_FIELD(S, field, int64_t), arg, NULL, help              \
    }
#define OPT_SIZE(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_SIZE, OPTION_FIELD(S, field, uint64_t), arg, NULL, help               \
    }

typedef struct Command Command;
struct Command {
    const char *name;
    const char *group;   // heading in the overview: "see where"
    const char *summary; // one line, lower case, no full stop
    const char *usage;   // what follows the name, one form a line: "[OPTIONS] [--] CMD [ARG …]"
    const Option *options;
    size_t option_count;
    const char *details; // after the options: meaning, examples; whole lines, or NULL
    // Wrapper commands run another program: options end at the first operand.
    bool operands_end_options;
    // Exactly one of these. argv[0] is the command's name; the result is the exit status.
    int (*run)(const Command *cmd, int argc, char **argv);
    const Command *sub; // sub-commands: "assay cover report"
    size_t sub_count;
    // Which sub-command an option in its place belongs to: of a tool whose letters are
    // taken as they are. May be NULL; NULL from it: none.
    const char *(*sub_of_options)(int argc, char *const *argv);
    const Command *parent; // set by command_run
};

typedef enum ParseResult {
    PARSE_OK,
    PARSE_DONE, // --help was printed: return 0
    PARSE_BAD   // what is wrong was printed: return 2
} ParseResult;

// Parses argv into `into` (defaults are there already) and `operands` (borrowed
// from argv). Prints help or the mistake itself.
ParseResult options_parse(const Command *cmd, int argc, char **argv, void *into, Arena *arena,
                          StrVec *operands);

// What a command's own function gets: its words, parsed.
typedef struct CommandLine {
    const Command *cmd;
    StrVec operands;
    char **words; // of a wrapper command: the operands as they end argv, NULL behind the last
    Arena *arena; // the command's scratch, which ends when the function returns
} CommandLine;

// `values` is the options struct, filled.
typedef int CommandBody(CommandLine *line, void *values);

// Parses argv into `values`, which hold the defaults, and calls `body` with them, unless help was
// asked for or a word was wrong. Returns the exit status.
int command_run_parsed(const Command *cmd, int argc, char **argv, void *values, CommandBody *body);

// Finds argv[1] among `table` and runs it; prints the overview or the mistake.
int commands_run(const Command *parent, const Command *table, size_t count, int argc, char **argv);

// "PARENT NAME: what is wrong" and where help is; returns status 2.
int usage_error(const Command *cmd, const char *fmt, ...) PRINTF_LIKE(2, 3);

// The help page of one command, as `--help` shows it.
struct StrBuf;
void command_help(const Command *cmd, struct StrBuf *out);

// Every command with its options as JSON, for completions and the man page check.
void commands_dump_json(const Command *table, size_t count, struct StrBuf *out);

#endif // CLI_OPTION_H
