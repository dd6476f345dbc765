// A diagnosis as text: for people, and as JSON with every value that was read (docs/schemas/diagnosis-v1.json).
#pragma once

#include <string>
#include <vector>

#include "diagnosis/diagnose.h"
#include "kubectl-verl/diagnose/options.h"

namespace verl::cli {

constexpr int kDiagnosisSchema = 1;

std::string print_diagnosis(const std::vector<diagnosis::ReadDocument>& documents, const diagnosis::Diagnosis& diagnosis, DiagnosisOutput output,
                            const report::Style& style);

std::string print_formats();  // one a line: name, the command that prints it

}  // namespace verl::cli
