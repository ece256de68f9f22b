# SPDX-License-Identifier: Apache-2.0
# Options and commands of perf, hyperfine, llvm-cov, lcov, gcovr, valgrind and heaptrack get the spelling of assay.
says() { "$ASSAY" "$@"; echo "status $?" >&2; }
says record --branch-filter any,u -- true
says record --switch-events -- true
says record --overwrite -- true
says record -n -- true
says record -W -- true
says record -A -- true
says record --rate 500 -- true
says report --fields overhead,sym
says report -T
says report --stats
says report -D
says report --parent main
says report --no-inline
says report --symbol-filter=foo
says report --gtk
says annotate --no-source main
says annotate -d libc.so.6
says top -s sym
says top -u root
says diff -c ratio a b
says list -j
says ftrace
says config --list
says version
says perf stat
says -p 1
says hyperfine ./prog
says -L x 1,2 './prog {x}'
says --export-json o.json ./prog
says ./prog
says run.assay
says cover report --fail-under-line 80
says cover report --html
says cover report -r .
says cover report --skip-covered
says cover show -name-regex=foo
says cover show -format=html
says cover export --skip-functions
says cover merge --num-threads=4 -o x a
says cover merge -sample -o x a
says cover run --out Xml -- cargo test
says cover run --workspace -- cargo test
says cover genhtml a.info
says cover --xml
says cover -a a.info
says gcovr -r .
says genhtml a.info
says --add-tracefile a.info
says memcheck ./prog
says callgrind_annotate x
says heaptrack_print x
says heap --leak-check=full ./prog
says heap --track-origins=yes ./prog
says heap --num-callers=20 ./prog
says heap --error-exitcode=1 ./prog
says heap --massif-out-file=x ./prog
says heap --pages-as-heap=yes ./prog
says heap --mode=copy ./prog
# One dash before a long name, as llvm-cov takes it.
says report -no-such
says report -json=1
# What stands for something else here.
says report -F overhead,sym
says report -g graph,0.5,caller
says record -p sleep
says merge -o x.profdata a.profraw
says bench -r 1 true ./no-such-argument >/dev/null
