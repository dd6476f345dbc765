// A readiness report as text: a table for people, JSON and YAML for programs. The JSON is described by
// docs/schemas/report-v1.json. Nothing relative to the time of printing is in it: the same report gives the same text.
#pragma once

#include <string>
#include <string_view>

#include "report/layout.h"
#include "report/readiness.h"

namespace verl::report {

enum class Format { Table, Json, Yaml };

constexpr int kSchemaVersion = 1;

std::string render(const ReadinessReport& report, Format format, const Style& style);

// One node by itself, without a cluster around it. `facts_json` is a JSON object of what was observed; JSON and YAML carry
// it as "status", the table leaves it out. Empty: none.
std::string render_node(const NodeLine& node, std::string_view docs_url, Format format, const Style& style, std::string_view facts_json = {});

// Whether a node by itself has findings at or above the level. No finding at all is Unknown, and fails.
bool fails(const NodeLine& node, FailOn level);

// Address of a check's or a reason's section in the documents; empty without a docs URL.
std::string check_link(std::string_view docs_url, std::string_view check);
std::string condition_link(std::string_view docs_url, std::string_view reason);

}  // namespace verl::report
