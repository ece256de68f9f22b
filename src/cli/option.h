// SPDX-License-Identifier: Apache-2.0
// Commands and their options as tables. Parsing, --help, shell completions and the lists of the man
// pages all come from the same table, so that an option is one row.

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
    OPTION_WORD,     // Str; as OPTION_TEXT, but behind the letter alone the next word is taken only
                     // if it is a word of `table`, or one and a comma; without one the field
                     // becomes the first word of `table`
    OPTION_CHOICE,   // Str, one of `choices` or a word of `table`
    OPTION_ROW,      // const T *: the row of `table` that has the word
    OPTION_LIST,     // StrVec, may be repeated
    OPTION_REST,     // RestWords: all words behind it, up to "--"
    OPTION_FILES,    // StrVec: all words behind it, up to the next that begins with '-'
    OPTION_U64,      // uint64_t, decimal or 0x…
    OPTION_I64,      // int64_t
    OPTION_DOUBLE,   // double
    OPTION_PERCENT,  // double, "5%" or "5"; the field holds 5.0
    OPTION_DURATION, // int64_t ns; "2", "1.5s", "200ms", "10us", "3m"; no unit is seconds
    OPTION_MILLIS,   // int64_t ns; the same, but no unit is milliseconds (perf's -D, -I)
    OPTION_SIZE,     // uint64_t bytes; "64k", "1M", "2G"; powers of 1024
} OptionKind;

// The words of a table, so that an option, the help and the man pages list the same words.
// The rows may have any type; the members that matter are given by their offsets.
typedef struct Choices {
    const void *rows;
    const size_t *count; // a pointer, for tables whose length another file knows
    size_t row_size;
    size_t name_at; // of a const char *: the word
    size_t help_at; // of a const char *: what the word means; CHOICES_NO_HELP without one
    bool (*takes)(const void *row); // leaves out rows for which it is false; NULL: all are taken
} Choices;

#define CHOICES_NO_HELP SIZE_MAX

// Of an array whose length is known here. `word` is the member with the word.
#define CHOICES_OF(array, word)                                                                    \
    {                                                                                              \
        .rows = (array), .count = &(const size_t){ARRAY_LEN(array)},                               \
        .row_size = sizeof((array)[0]), .name_at = offsetof(__typeof__((array)[0]), word),         \
        .help_at = CHOICES_NO_HELP                                                                 \
    }

// The members of Choices for an array with `length`, the variable that holds its length; more
// members may follow: `static const Choices words = {CHOICES_COUNTED(…), .takes = f};`
#define CHOICES_COUNTED(array, length, word)                                                       \
    .rows = (array), .count = &(length), .row_size = sizeof((array)[0]),                           \
    .name_at = offsetof(__typeof__((array)[0]), word), .help_at = CHOICES_NO_HELP

// The same, with `help`, the member that says what a row is.
#define CHOICES_WITH_HELP(array, length, word, help)                                               \
    .rows = (array), .count = &(length), .row_size = sizeof((array)[0]),                           \
    .name_at = offsetof(__typeof__((array)[0]), word),                                             \
    .help_at = offsetof(__typeof__((array)[0]), help)

// The value of an OPTION_REST.
typedef struct RestWords {
    bool given;
    StrVec words;
} RestWords;

typedef struct Option {
    char letter;      // 0: long form only
    const char *name; // NULL: short form only
    OptionKind kind;
    size_t offset;        // of the field in the command's options struct
    const char *arg;      // the argument's name in the help, NULL for flags
    const char *choices;  // "auto|dwarf|fp" for OPTION_CHOICE and OPTION_OPTIONAL
    const char *help;     // one sentence, lower case, no full stop
    const Choices *table; // in the place of `choices`, for words that a table holds; for
                          // OPTION_TEXT only what completions offer
} Option;

// offsetof with a check that the field has the type the option kind writes.
#define OPTION_FIELD(S, field, T)                                                                  \
    (offsetof(S, field) +                                                                          \
     0 * sizeof(char[__builtin_types_compatible_p(__typeof__(((S *)0)->field), T) ? 1 : -1]))

#define OPT_FLAG(letter, name, S, field, help)                                                     \
    {                                                                                              \
        letter, name, OPTION_FLAG, OPTION_FIELD(S, field, bool), NULL, NULL, help, NULL            \
    }
#define OPT_NO_FLAG(letter, name, S, field, help)                                                  \
    {                                                                                              \
        letter, name, OPTION_NO_FLAG, OPTION_FIELD(S, field, bool), NULL, NULL, help, NULL         \
    }
#define OPT_COUNT(letter, name, S, field, help)                                                    \
    {                                                                                              \
        letter, name, OPTION_COUNT, OPTION_FIELD(S, field, unsigned), NULL, NULL, help, NULL       \
    }
#define OPT_TEXT(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_TEXT, OPTION_FIELD(S, field, Str), arg, NULL, help, NULL              \
    }
#define OPT_OPTIONAL(letter, name, S, field, arg, choices, help)                                   \
    {                                                                                              \
        letter, name, OPTION_OPTIONAL, OPTION_FIELD(S, field, Str), arg, choices, help, NULL       \
    }
#define OPT_CHOICE(letter, name, S, field, arg, choices, help)                                     \
    {                                                                                              \
        letter, name, OPTION_CHOICE, OPTION_FIELD(S, field, Str), arg, choices, help, NULL         \
    }
// A word of a table, as text: for words that are looked up later.
#define OPT_CHOICE_OF(letter, name, S, field, arg, table, help)                                    \
    {                                                                                              \
        letter, name, OPTION_CHOICE, OPTION_FIELD(S, field, Str), arg, NULL, help, table           \
    }
// Text that begins with a word of a table, which completions offer; the command itself checks it.
#define OPT_TEXT_OF(letter, name, S, field, arg, table, help)                                      \
    {                                                                                              \
        letter, name, OPTION_TEXT, OPTION_FIELD(S, field, Str), arg, NULL, help, table             \
    }
// The same; perf's users give the letter without its argument.
#define OPT_WORD_OF(letter, name, S, field, arg, table, help)                                      \
    {                                                                                              \
        letter, name, OPTION_WORD, OPTION_FIELD(S, field, Str), arg, NULL, help, table             \
    }
// A word of a table whose rows are of type T: the field, a const T *, becomes its row.
#define OPT_ROW(letter, name, S, field, T, arg, table, help)                                       \
    {                                                                                              \
        letter, name, OPTION_ROW, OPTION_FIELD(S, field, const T *), arg, NULL, help, table        \
    }
#define OPT_LIST(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_LIST, OPTION_FIELD(S, field, StrVec), arg, NULL, help, NULL           \
    }
#define OPT_REST(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_REST, OPTION_FIELD(S, field, RestWords), arg, NULL, help, NULL        \
    }
#define OPT_FILES(letter, name, S, field, arg, help)                                               \
    {                                                                                              \
        letter, name, OPTION_FILES, OPTION_FIELD(S, field, StrVec), arg, NULL, help, NULL          \
    }
#define OPT_U64(letter, name, S, field, arg, help)                                                 \
    {                                                                                              \
        letter, name, OPTION_U64, OPTION_FIELD(S, field, uint64_t), arg, NULL, help, NULL          \
    }
#define OPT_I64(letter, name, S, field, arg, help)                                                 \
    {                                                                                              \
        letter, name, OPTION_I64, OPTION_FIELD(S, field, int64_t), arg, NULL, help, NULL           \
    }
#define OPT_DOUBLE(letter, name, S, field, arg, help)                                              \
    {                                                                                              \
        letter, name, OPTION_DOUBLE, OPTION_FIELD(S, field, double), arg, NULL, help, NULL         \
    }
#define OPT_PERCENT(letter, name, S, field, arg, help)                                             \
    {                                                                                              \
        letter, name, OPTION_PERCENT, OPTION_FIELD(S, field, double), arg, NULL, help, NULL        \
    }
#define OPT_DURATION(letter, name, S, field, arg, help)                                            \
    {                                                                                              \
        letter, name, OPTION_DURATION, OPTION_FIELD(S, field, int64_t), arg, NULL, help, NULL      \
    }
#define OPT_MILLIS(letter, name, S, field, arg, help)                                              \
    {                                                                                              \
        letter, name, OPTION_MILLIS, OPTION_FIELD(S, field, int64_t), arg, NULL, help, NULL        \
    }
#define OPT_SIZE(letter, name, S, field, arg, help)                                                \
    {                                                                                              \
        letter, name, OPTION_SIZE, OPTION_FIELD(S, field, uint64_t), arg, NULL, help, NULL         \
    }

// An option that users of another tool are used to and that the command does not have.
typedef struct ForeignOption {
    char letter;      // 0: long form only
    const char *name; // NULL: short form only
    enum { FOREIGN_IGNORED, FOREIGN_OPERAND, FOREIGN_REFUSED } what;
    const char *instead; // of one that is refused: what to type, one line
} ForeignOption;

typedef struct Command Command;
struct Command {
    const char *name;
    const char *group;   // heading in the overview: "see where"
    const char *summary; // one line, lower case, no full stop
    const char *usage;   // what follows the name, one form a line: "[OPTIONS] [--] CMD [ARG …]"
    const char *first;   // the usual commands: lines "assay …    what it does", or NULL
    const Option *options;
    size_t option_count;
    // A table that the help and the man page show below the options, under its heading:
    // "formats". NULL: there is none.
    const char *list_heading;
    const Choices *list;
    const char *details; // after the options: meaning, examples; whole lines, or NULL
    // Options of other tools: they do nothing because assay does so anyway, or their argument is an
    // operand, or the user must type something else. The help does not list them.
    const ForeignOption *foreign;
    size_t foreign_count;
    // Wrapper commands run another program: options end at the first operand.
    bool operands_end_options;
    // Exactly one of these. argv[0] is the command's name; the result is the exit status.
    int (*run)(const Command *cmd, int argc, char **argv);
    const Command *const *sub; // sub-commands: "assay cover report"
    size_t sub_count;
    // For users of another tool, whose options are given where the sub-command is expected: returns
    // the name of the sub-command that takes them, NULL if there is none. The function may be NULL.
    const char *(*sub_of_options)(int argc, char *const *argv);
    const Command *parent; // in the copy that `run` gets; NULL in the tables
};

typedef enum ParseResult {
    PARSE_OK,
    PARSE_DONE, // --help was printed: return 0
    PARSE_BAD   // the mistake was printed: return 2
} ParseResult;

// Parses argv into `into` (defaults are there already) and `operands` (borrowed
// from argv). Prints help or the mistake itself. `dashes` (may be NULL) becomes the number of
// operands in front of "--"; SIZE_MAX without one.
ParseResult options_parse(const Command *cmd, int argc, char **argv, void *into, Arena *arena,
                          StrVec *operands, size_t *dashes);

// The arguments of a command's own function, without the options.
typedef struct CommandLine {
    const Command *cmd;
    StrVec operands;
    size_t dashes; // how many operands stand in front of "--"; SIZE_MAX: there is no "--"
    char **words;  // of a wrapper command: its operands, the end of argv, with NULL after the last
    Arena *arena;  // scratch memory, freed when the function returns
} CommandLine;

// A command's own function; `values` is the options struct, filled. Returns the exit status.
typedef int CommandBody(CommandLine *line, void *values);

// Parses argv into `values`, which hold the defaults. Calls `body` with them, unless --help was
// given or an argument was wrong. Returns the exit status.
int command_run_parsed(const Command *cmd, int argc, char **argv, void *values, CommandBody *body);

// Finds argv[1] among `table` and runs it; prints the help of `parent` (NULL for the program's own
// commands) or the mistake. Returns the exit status.
int commands_run(const Command *parent, const Command *const *table, size_t count, int argc,
                 char **argv);

// Prints "PARENT NAME: the message" and the command that shows help. Returns STATUS_USAGE.
int usage_error(const Command *cmd, const char *fmt, ...) PRINTF_LIKE(2, 3);

struct StrBuf;

// Appends the names and summaries of commands, each group under its heading, names padded to
// `columns`.
void commands_add_list(const Command *const *table, size_t count, int columns, struct StrBuf *out);

// Appends the help page of one command, as `--help` shows it.
void command_help(const Command *cmd, struct StrBuf *out);

// Appends every command with its options as JSON, for completions and the man page check. The
// members are described in docs/formats/json.md.
void commands_dump_json(const Command *const *table, size_t count, struct StrBuf *out);

#endif // CLI_OPTION_H
