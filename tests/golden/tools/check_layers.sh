#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A tree that keeps the rules passes tools/check-layers. Each change below breaks one
# rule, and the tool says which, where.

# The tree: cli/main.c calls elf/elf.c, which calls base/text.c.
make_tree() {
    mkdir -p src/base src/elf src/cli docs
    spdx='// SPDX-License-Identifier: Apache-2.0'
    printf 'base:\nelf:\ncli: elf\n' >src/LAYERS
    printf '| folder | purpose |\n|---|---|\n| `base/` | text and memory |
| `elf/` | reads ELF objects |\n- **cli/** the commands and options\n' >docs/ARCHITECTURE.md
    printf '%s\nint text_len(const char *text);\n' "$spdx" >src/base/text.h
    printf '%s\n#include "base/text.h"\nint text_len(const char *text) { return text[0] != 0; }\n' \
        "$spdx" >src/base/text.c
    printf '%s\nint elf_open(const char *path);\n' "$spdx" >src/elf/elf.h
    printf '%s\n#include "elf/elf.h"\n#include "base/text.h"
int elf_open(const char *path) { return text_len(path); }\n' "$spdx" >src/elf/elf.c
    printf '%s\n#include "elf/elf.h"\nint main(int count, char **words) { return count - elf_open(words[0]); }\n' \
        "$spdx" >src/cli/main.c
}

# file PATH TEXT: a source file.
file() { printf '// SPDX-License-Identifier: Apache-2.0\n%s\n' "$2" >"src/$1"; }

# Compiles what changed since the tree was copied.
build() {
    local source object objects=() changed=
    mkdir -p build/dev/src/t.p
    for source in src/*/*.c; do
        object=${source#src/}
        object=build/dev/src/t.p/${object//\//_}.o
        objects+=("$object")
        [ "$object" -nt "$source" ] && continue
        changed=1
        "${CC:-cc}" -O0 -fPIE -ffunction-sections -fdata-sections -Isrc -c "$source" -o "$object"
    done
    for source in src/*/; do
        (cd "$source" && printf "sources += files('%s')\n" *.c >meson.build)
    done
    [ -z "$changed" ] && return
    "${CC:-cc}" -pie -Wl,--gc-sections -Wl,-Map=build/dev/src/assay.map "${objects[@]}" -o build/dev/src/t
}

n=0
# breaks RULE: runs the function of that name in a fresh tree, then the tool.
breaks() {
    echo "== $1"
    cp -a whole $((++n)) && cd $n || exit 1
    "$1"
    build
    python3 "$TOP/tools/check-layers" --top . 2>&1
    cd ..
}

mkdir whole && cd whole && make_tree && build && cd .. || exit 1

nothing() { :; }
include_without_permission() { printf 'base:\nelf:\ncli:\n' >src/LAYERS; }
permission_that_no_file_uses() { printf 'base:\nelf:\nos:\ncli: elf os\n' >src/LAYERS; mkdir src/os
    file os/now.c 'typedef int Now;'; echo '| `os/` | the operating system |' >>docs/ARCHITECTURE.md; }
circle_of_folders() { printf 'base:\nelf: cli\ncli: elf\n' >src/LAYERS; file cli/cli.h ''
    sed -i '2a #include "cli/cli.h"' src/elf/elf.c; }
two_files() { # elf.c and note.c, which need each other
    file elf/note.h 'int note_find(int at); int elf_next(int at);'
    file elf/note.c '#include "elf/note.h"
int note_find(int at) { return at > 9 ? at : elf_next(at); }'
    file elf/elf.c '#include "elf/elf.h"
#include "base/text.h"
#include "elf/note.h"
int elf_next(int at) { return note_find(at + 1); }
int elf_open(const char *path) { return note_find(text_len(path)); }'; }
circle_of_files() { two_files; }
circle_with_a_reason() { two_files; echo 'allow circle elf/elf elf/note: notes hold further objects' >>src/LAYERS; }
circle_without_a_reason() { two_files; echo 'allow circle elf/elf elf/note:' >>src/LAYERS; }
circle_that_is_none_any_more() { echo 'allow circle elf/elf elf/note: notes hold further objects' >>src/LAYERS; }
shared_header_is_no_circle() { two_files; file elf/note.c '#include "elf/note.h"
int note_find(int at) { return at; }'; file elf/elf.c '#include "elf/elf.h"
#include "base/text.h"
#include "elf/note.h"
int elf_open(const char *path) { return note_find(text_len(path)); }'; }
folder_without_a_purpose() { sed -i '/elf/d' docs/ARCHITECTURE.md; }
folder_with_an_empty_purpose() { sed -i 's/reads ELF objects//' docs/ARCHITECTURE.md; }
prototype_without_a_comment() { printf '\n// Opens it.\nint elf_a(void);\nint elf_b(void);\n\nint elf_c(void); // closes
\nint elf_d(void);\nvoid *elf_e(int (*each)(void *), void *context)\n    __attribute__((cold));\n' >>src/elf/elf.h; }
test_among_the_sources() { file cli/test_main.c 'typedef int Tried;'; }
one_name_for_two_jobs() { file elf/text.c 'typedef int Text;'; }
reader_and_writer_of_one_format() { mkdir src/import src/export; printf 'import:\nexport:\n' >>src/LAYERS
    printf '| `import/` | reads foreign profiles |\n| `export/` | writes foreign profiles |\n' >>docs/ARCHITECTURE.md
    file import/pprof.c 'typedef int Read;'; file export/pprof.c 'typedef int Written;'; }
folder_of_too_many_files() { for i in $(seq 25); do file "cli/part$i.c" 'typedef int Part;'; done; }
variable_that_changes() { file base/text.c '#include "base/text.h"
static int calls;
static const char *const names[] = {"a", "b"};
int text_len(const char *text) { static int last = 3; return ++calls + last++ + (names[calls % 2] == text); }'; }
variable_with_a_reason() { variable_that_changes; echo 'allow state base/text.c calls last: counts of the process' >>src/LAYERS; }
flag_of_a_signal_handler() { file base/text.c '#include "base/text.h"
#include <signal.h>
static volatile sig_atomic_t asked;
int text_len(const char *text) { asked = text[0]; return asked; }'; }
work_before_main() { file cli/main.c '#include "elf/elf.h"
__attribute__((constructor)) static void gather(void) {}
int main(int count, char **words) { return count - elf_open(words[0]); }'; }
function_that_nothing_calls() { echo 'int text_spare(void) { return 1; }' >>src/base/text.c; }
file_that_nothing_calls() { file base/spare.c 'int spare(void) { return 1; }'; }

breaks nothing
breaks include_without_permission
breaks permission_that_no_file_uses
breaks circle_of_folders
breaks circle_of_files
breaks circle_with_a_reason
breaks circle_without_a_reason
breaks circle_that_is_none_any_more
breaks shared_header_is_no_circle
breaks folder_without_a_purpose
breaks folder_with_an_empty_purpose
breaks prototype_without_a_comment
breaks test_among_the_sources
breaks one_name_for_two_jobs
breaks reader_and_writer_of_one_format
breaks folder_of_too_many_files
breaks variable_that_changes
breaks variable_with_a_reason
breaks flag_of_a_signal_handler
breaks work_before_main
breaks function_that_nothing_calls
breaks file_that_nothing_calls

# --update removes what nothing needs, and only that.
echo "== update"
cp -a whole updated && cd updated || exit 1
variable_that_changes
echo 'os:' >>src/LAYERS
sed -i 's/^cli: elf/cli: elf os/' src/LAYERS
printf 'allow state base/text.c calls gone last: counts of the process\nallow state elf/elf.c gone: no file has it\n' >>src/LAYERS
printf 'allow circle elf/elf elf/note: it was cut long ago\n# The end.\n' >>src/LAYERS
mkdir src/os && build
python3 "$TOP/tools/check-layers" --top . --update
cat src/LAYERS
