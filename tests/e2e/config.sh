#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The user's file of defaults: what it may say, who may have written it, and that the command line goes before it.
# beside others: 1 s
# shellcheck source=lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
export XDG_CONFIG_HOME=$PWD/config
unset ASSAY_CONFIG
mkdir -p config/assay
config() { printf '%s\n' "$@" >config/assay/config; }
runs() { assay bench -N --style none --export-json o.json "$@" true >out 2>err && python3 -c '
import json; print(len(json.load(open("o.json"))["results"][0]["times"]))'; }
says() { local text=$1; shift; ! "$@" >out 2>err && grep -qF -- "$text" err || { cat err; return 1; }; }

config '# what I like' '' '[bench]' 'runs = 3' '[stat]' 'no-such = 1' '[cover report]' 'limit = 5'
check 'an option of the section is taken' eval '[ "$(runs)" = 3 ]'
check 'the command line goes before it' eval '[ "$(runs -r 4)" = 4 ]'
check 'an empty ASSAY_CONFIG reads no file' eval 'ASSAY_CONFIG= runs >count && [ "$(cat count)" -gt 4 ]'
printf '[bench]\nruns = 6\n' >other
check 'ASSAY_CONFIG names another file' eval '[ "$(ASSAY_CONFIG=$PWD/other runs)" = 6 ]'
check 'which must be there then' says 'cannot read' env ASSAY_CONFIG="$PWD/none" assay stat true
check "a section of another command is its own affair" eval '[ "$(runs)" = 3 ]'
check 'an option that is none is named with its line' says "line 6 of '$PWD/config/assay/config'" assay stat true
check 'help is shown all the same' eval 'assay stat --help | grep -q "^usage: assay stat"'
check 'a subcommand has a section of two words' eval 'config "[cover report]" "limit = x" && says "line 2" assay cover report nothing'
config '[bench]' 'runs = 3' 'wait-clock = yes' 'grouped = no'
check 'flags are yes or no' eval '[ "$(runs)" = 3 ] && assay bench -N true true >both && tr "\n" " " <both | grep -q "asked for by --wait-clock.*Order: drawn"'
check 'and nothing else' eval 'config "[bench]" "wait-clock = maybe" && says "takes yes or no" assay bench -N true'
check 'a flag can stand alone' eval 'config "[bench]" "wait-clock" "runs=2" && [ "$(runs)" = 2 ]'
check 'an option without its argument is an error' eval 'config "[bench]" "runs" && says "line 2" assay bench -N true'
check 'options take no dashes' eval 'config "[bench]" "--runs = 3" && says "without dashes" assay bench -N true'
check 'an option needs a section' eval 'config "runs = 3" && says "line 1" assay bench -N true'
config '[bench]' 'runs = 5'
mv config/assay/config elsewhere && ln -s "$PWD/elsewhere" config/assay/config
check 'a link of the user is followed' eval '[ "$(runs)" = 5 ]'
finish
