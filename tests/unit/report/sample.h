// A cluster of twelve nodes in three racks with one of each kind of trouble, and the golden files its reports are compared with.
#pragma once

#include <string>

#include "report/readiness.h"

namespace verl::report {

Finding finding(Verdict verdict, std::string check, std::string subject = {}, std::string seen = {}, std::string wanted = {}, std::string remedy = {});
NodeLine ready_node(const std::string& name, const std::string& block, const std::string& rack);
ReportInput sample();

// The file's text; with VERL_UPDATE_GOLDENS set it is written first.
std::string golden(const std::string& name, const std::string& actual);

}  // namespace verl::report
