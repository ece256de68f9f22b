// SPDX-License-Identifier: Apache-2.0
// XML tag by tag, Cobertura on top of it, and llvm-cov's JSON.

#include "harness.h"

#include "tracefile/tracefile.h"
#include "tracefile/xml.h"

static void tags_attributes_and_text_come_in_order(void **state)
{
    (void)state;
    Arena arena = {0};
    Xml x = xml_over(STR("<?xml version='1.0'?><!DOCTYPE a SYSTEM \"x.dtd\">\n<!-- <b> -->"
                         "<a k='&lt;&#65;&#x263a;&amp;&no;'>t<b/><![CDATA[<c>]]></a>\n"));
    assert_true(xml_next(&x));
    assert_str(x.name, "a");
    assert_str(xml_value(&x, &arena, "k"), "<A\xe2\x98\xba&&no;");
    assert_str(xml_value(&x, &arena, "absent"), "");
    assert_true(xml_next(&x));
    assert_str(x.name, "b");
    assert_str(x.content, "t");
    assert_true(xml_next(&x) && x.is_end);
    assert_true(xml_next(&x) && x.is_end);
    assert_str(x.name, "a");
    assert_false(xml_next(&x));
    Error err;
    assert_ok(xml_check(&x, &err), &err);
    arena_deinit(&arena);
}

static void broken_documents_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"<a><b></a>", "end tag without its start tag"},
        {"<a", "a name was expected"},
        {"<a k>", "no value"},
        {"<a k=v>", "no quotes"},
        {"<a k='v>", "not closed"},
        {"<a>", "ends within an element"},
        {"<a/><b/>", "second root"},
        {"<!DOCTYPE a [<!ENTITY e 'x'>]><a/>", "declarations"},
        {"<a><!-- </a>", "not closed"},
        {"< a/>", "a name was expected"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        Xml x = xml_over(str_from_c(cases[i].text));
        Error err = {0};
        while (xml_next(&x))
            ;
        assert_error(xml_check(&x, &err), &err, ERROR_FORMAT, cases[i].want);
    }
}

// Reads a document cut at each byte from 40 on: refused with words, or the `whole_at` bytes
// that hold the file are there, and a note says so.
static void check_cuts(const char *document, size_t len, size_t whole_at)
{
    for (size_t cut = 40; cut < len; cut++) {
        Arena arena = {0};
        CoverSet set;
        Error err = {0};
        cover_set_init(&set, &arena);
        bool ok = tracefile_read(&set, bytes_over(document, cut), &err);
        assert_true(ok == (cut >= whole_at));
        assert_true(ok || err.text[0]);
        if (ok) {
            assert_int_equal(set.notes.len, 1);
            assert_true(str_find(set.notes.at[0], STR("1 whole ")) != SIZE_MAX);
            assert_true(str_find(set.notes.at[0], STR("at offset 0x")) != SIZE_MAX);
            assert_int_equal(set.files.at[0].lines.at[0].count, 4);
        }
        cover_set_deinit(&set);
        arena_deinit(&arena);
    }
}

static const char report[] =
    "<coverage line-rate=\"1\"><sources><source>/s</source></sources><packages><package>"
    "<classes><class filename=\"d/x.c\"><methods><method name=\"f\"><lines><line number=\"2\" "
    "hits=\"4\"/></lines></method></methods><lines><line number=\"2\" hits=\"4\"/>"
    "<line number=\"3\" hits=\"0\" branch=\"true\" condition-coverage=\"50% (1/2)\"/>"
    "</lines></class></classes></package></packages></coverage>";

static void cobertura_gives_lines_methods_and_branches(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    cover_set_init(&set, &arena);
    assert_ok(tracefile_read(&set, bytes_from_str(str_from_c(report)), &err), &err);
    const CoverSetFile *f = &set.files.at[0];
    assert_str(f->path, "/s/d/x.c");
    assert_int_equal(f->lines.len, 2);
    assert_int_equal(f->lines.at[0].count, 4);
    assert_int_equal(f->functions.at[0].line, 2);
    assert_int_equal(f->functions.at[0].count, 4);
    assert_int_equal(f->branches.len, 2);
    assert_int_equal(f->branches.at[0].count, 1);
    assert_int_equal(f->branches.at[1].count, 0);
    check_cuts(report, sizeof(report) - 1,
               (size_t)(strstr(report, "</class>") - report) + strlen("</class>"));
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static const char export[] =
    "{\"data\":[{\"files\":[{\"branches\":[[3,5,3,9,2,0,0,0,4]],\"expansions\":[{\"branches\":"
    "[[1,2,1,4,1,1,1,0,4]],\"source_region\":[3,7,3,9,2,0,1,1]}],\"filename\":\"/x\\u002ec\","
    "\"segments\":[[2,1,4,true,true,false],[3,5,2,true,true,false],[4,2,0,false,false,false]]}],"
    "\"functions\":[{\"count\":4,\"filenames\":[\"/x.c\",\"/y.h\"],\"name\":\"f\",\"regions\":"
    "[[2,1,4,2,4,0,0,0],[3,5,3,9,2,0,0,0]]}],\"totals\":{}}],"
    "\"type\":\"llvm.coverage.json.export\",\"version\":\"2.0.1\"}";

static void llvm_covs_json_gives_lines_functions_and_branches(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    cover_set_init(&set, &arena);
    assert_ok(tracefile_read(&set, bytes_from_str(str_from_c(export)), &err), &err);
    assert_int_equal(set.files.len, 1);
    const CoverSetFile *f = &set.files.at[0];
    assert_str(f->path, "/x.c");
    assert_int_equal(f->lines.len, 3);
    assert_int_equal(f->lines.at[1].count, 4);
    assert_int_equal(f->lines.at[2].count, 2);
    assert_int_equal(f->functions.len, 1);
    assert_int_equal(f->functions.at[0].line, 2);
    assert_int_equal(f->branches.len, 4);
    assert_int_equal(f->branches.at[2].line, 3);
    assert_int_equal(f->branches.at[2].block, 1);
    check_cuts(export, sizeof(export) - 1,
               (size_t)(strstr(export, "]]}],\"functions") - export) + 3);
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

static void a_version_of_llvm_covs_json_that_is_not_known_is_refused(void **state)
{
    (void)state;
    Arena arena = {0};
    CoverSet set;
    Error err;
    char text[sizeof(export)];
    memcpy(text, export, sizeof(export));
    strstr(text, "2.0.1")[0] = '4';
    cover_set_init(&set, &arena);
    assert_error(tracefile_read(&set, bytes_over(text, strlen(text)), &err), &err, ERROR_FORMAT,
                 "unknown version '4.0.1'; versions 1 to 3 are known");
    cover_set_deinit(&set);
    arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tags_attributes_and_text_come_in_order),
        cmocka_unit_test(broken_documents_are_refused),
        cmocka_unit_test(cobertura_gives_lines_methods_and_branches),
        cmocka_unit_test(llvm_covs_json_gives_lines_functions_and_branches),
        cmocka_unit_test(a_version_of_llvm_covs_json_that_is_not_known_is_refused),
    };
    return RUN_TESTS(tests);
}
