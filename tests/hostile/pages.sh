#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names with scripts, images and markup in every page and picture that we write, opened by a browser, and each element
# touched: no script of a name runs, nothing is asked of a server, and the names are shown as text.
# beside others: 33 s
# shellcheck source=../e2e/lib/common.sh
. "$TOP/tests/e2e/lib/common.sh"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    skip_all 'no Chromium here (tools/install-deps --dev)'
opens() { "$TOP/tests/tools/page_in_browser.py" "$browser" "$@"; }
"$TOP/tests/tools/page_in_browser.py" serve &
trap 'kill $! 2>/dev/null' EXIT
eventually [ -s server ] || exit 1
server=$(cat server)

# The test itself: a page that does not escape its names is found out.
pwn="document.documentElement.setAttribute('data-pwned','1')"
image="<img src=http://$server/image-x onerror=$pwn>"
printf '<!doctype html><html><body>marker-0 %s%s<p>%s</p></body></html>' "$image" "<script>$pwn</script>" "$(printf 'x%.0s' {1..300})" >open.html
found_out() { ! opens marker-0 open.html && grep -q image-x requests; }
check 'a page that does not escape its names is found out' found_out
driver=$(command -v chromedriver || true)
touch_page() { "$TOP/tests/tools/page_in_browser.py" --touch "$driver" "$browser" "$@"; }
# Escaped when it is opened, but not when a name is clicked.
printf '<!doctype html><html><body><p>marker-0 %s</p><b>one</b><b onclick="this.innerHTML=%s">two</b></body></html>' \
    "$(printf 'x%.0s' {1..300})" "'\\x3cimg src=http://$server/image-x \\x6fnerror=1>'" >click.html
found_out_by_touch() { opens marker-0 click.html && ! touch_page marker-0 click.html 2>said && grep -q 'after it was touched' said; }
if [ -n "$driver" ]; then
    check 'a page that does not escape a name that is clicked is found out' found_out_by_touch
else
    skip 'clicks in pages' 'no chromedriver here (tools/install-deps --dev)'
fi
rm -f requests

export server
python3 - <<'PY'
import os
pwn = "document.documentElement.setAttribute('data-pwned','1')"
at = os.environ["server"]
names = [f"marker-{i} " + text for i, text in enumerate((
    f"<img src=http://{at}/image-x onerror={pwn}>", f"</script><script>{pwn}</script>", f"</title></style><svg onload={pwn}>",
    f"\" onmouseover=\"{pwn}\" x=\"", f"' autofocus onfocus='{pwn}' x='", f"javascript:{pwn}", "]]><script>" + pwn + "</script>",
    "--><script>" + pwn + "</script>", "&lt;script&gt;" + pwn, f"\\u003cscript\\u003e{pwn}", f"url(http://{at}/style-x)",
    "`${" + pwn + "}`", "{{" + pwn + "}}"))]
with open("names.folded", "w", encoding="utf-8") as out:
    for i, name in enumerate(names):
        out.write(f"main;{name.replace(';', ',')};leaf {i + 30}\n")
# The baseline has names that the other recording has not, and all of that one's with other weights.
with open("base.folded", "w", encoding="utf-8") as out:
    for i, name in enumerate(names):
        out.write(f"main;{name.replace(';', ',')};leaf {90 - i}\nmain;gone {name.replace(';', ',')} {i + 7}\n")
with open("base.info", "w", encoding="utf-8") as out:
    for name in names[:6]:
        out.write(f"TN:\nSF:src/{name}.c\nFN:1,{name}\nFNDA:0,{name}\nDA:1,0\nDA:2,5\nBRDA:1,0,0,0\nBRDA:1,0,1,0\nend_of_record\n"
                  f"SF:src/gone {name}.c\nFN:1,gone {name}\nFNDA:1,gone {name}\nDA:1,1\nend_of_record\n")
with open("names.info", "w", encoding="utf-8") as out:
    for name in names:
        out.write(f"TN:\nSF:src/{name}.c\nFN:1,{name}\nFNDA:3,{name}\nDA:1,3\nDA:2,0\nBRDA:1,0,0,2\nBRDA:1,0,1,0\nend_of_record\n")
with open("name.txt", "w", encoding="utf-8") as out:
    out.write(names[0] + names[1] + names[3])
PY
name=$(cat name.txt)
"$ASSAY" flame names.folded -o flame.svg && "$ASSAY" flame names.folded --title "$name" -o title.svg &&
    "$ASSAY" view --no-open names.folded --html view.html 2>err &&
    "$ASSAY" cover export --format html names.info --baseline base.info -o cover.html &&
    "$ASSAY" diff base.folded names.folded --html diff.html --flame change.svg >out 2>err &&
    "$ASSAY" bench -N -r 3 -n "$name" true --html bench.html --svg bench.svg >out 2>err &&
    "$ASSAY" stat -r 3 --html stat.html -- true "$name" >out 2>err
verdict 'the pages are written' $?
# A survey of two programs whose names are markup.
markup='<img src=x onerror=document.documentElement.dataset.pwned=1>'
for which in old new; do cp "$(type -P true)" "marker-0 $which $markup"; done
"$ASSAY" survey --steps time,cpu -M 1 -q -o s --html survey.html --against "'./marker-0 old $markup'" -- "./marker-0 new $markup" >out 2>err
verdict 'the page of a survey is written' $?
for page in view.html diff.html survey.html flame.svg change.svg title.svg cover.html bench.html bench.svg stat.html; do
    check "names in $page are text" opens marker-0 $page
    [ -z "$driver" ] || check "names in $page are text when they are touched" touch_page marker-0 $page
done
check 'nothing is asked of a server' [ ! -e requests ]
finish
