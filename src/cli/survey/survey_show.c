// SPDX-License-Identifier: Apache-2.0
// Shows the folder of a survey.

#include "cli/survey/survey_show.h"

#include "cli/cli.h"
#include "cli/survey/survey_changes.h"
#include "cli/survey/survey_screen.h"

bool survey_add_text(Str folder, size_t columns, StrBuf *out, Error *err)
{
    SurveyData d;
    StrBuf changes = {0};
    const Terminal terminal = {.columns = columns};
    bool ok = survey_data_load(&d, folder, err);
    if (ok) {
        survey_changes_add(&changes, &d);
        survey_screen_add(out, &terminal, &d, strbuf_str(&changes));
    }
    strbuf_deinit(&changes);
    survey_data_deinit(&d);
    return ok;
}

int survey_show(Str folder, const Terminal *t, SurveyForm form)
{
    SurveyData d;
    StrBuf out = {0}, changes = {0};
    Error err;
    int status = STATUS_OK;
    if (!survey_data_load(&d, folder, &err)) {
        status = cli_fail(&err);
    } else if (form == SURVEY_JSON) {
        survey_json_add(&out, &d);
        status = cli_print(strbuf_str(&out)) ? STATUS_OK : STATUS_FAILED;
    } else {
        survey_changes_add(&changes, &d);
        if (form == SURVEY_BRIEF)
            survey_brief_add(&out, t, &d, strbuf_str(&changes));
        else
            survey_screen_add(&out, t, &d, strbuf_str(&changes));
        status = cli_print_text(strbuf_str(&out)) ? STATUS_OK : STATUS_FAILED;
    }
    strbuf_deinit(&changes);
    strbuf_deinit(&out);
    survey_data_deinit(&d);
    return status;
}
