// For the .cpp files of report: the spellings that render() chooses from.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/render.h"

namespace verl::report {

std::string table_text(const ReadinessReport& report, const Style& style);
nlohmann::ordered_json document_of(const ReadinessReport& report);
nlohmann::ordered_json document_of(const Finding& finding, std::string_view docs_url);

}  // namespace verl::report
