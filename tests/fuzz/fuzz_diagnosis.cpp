// libFuzzer target of all parsers: VERL_FUZZ_FORMAT names the one, without it the input is a few documents of two nodes, recognised by
// content and judged together. Whatever is read must print too.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/diagnose.h"
#include "kubectl-verl/diagnose/print_diagnosis.h"

namespace {

using namespace verl;
using diagnosis::ReadDocument;

const char* wanted() {
  static const char* const kFormat = std::getenv("VERL_FUZZ_FORMAT");
  return kFormat ? kFormat : "";
}

void conclude(const std::vector<ReadDocument>& documents) {
  const diagnosis::Policy policy;
  const diagnosis::Diagnosis diagnosis = diagnosis::diagnose(documents, policy);
  if (cli::print_diagnosis(documents, diagnosis, cli::DiagnosisOutput::Json, {}).empty()) std::abort();
  (void)cli::print_diagnosis(documents, diagnosis, cli::DiagnosisOutput::Table, {});
}

// A stream must give the same answer however it is cut.
ReadDocument read_in_pieces(std::string_view text, std::string_view format, size_t piece) {
  diagnosis::DocumentReader reader("fuzz", "node-a", format, {});
  for (; !text.empty(); text.remove_prefix(std::min(text.size(), piece))) reader.feed(text.substr(0, piece));
  return reader.finish();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  if (*wanted() != '\0' && diagnosis::format_named(diagnosis::all_formats(), wanted()) == nullptr) {
    std::fprintf(stderr, "VERL_FUZZ_FORMAT: no format is called %s\n", wanted());
    std::exit(64);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (*wanted() != '\0') {
    const ReadDocument whole = diagnosis::read_document("fuzz", "node-a", text, wanted(), {});
    if (whole.reading.values != read_in_pieces(text, wanted(), 7).reading.values) std::abort();
    conclude({whole});
    return 0;
  }
  constexpr char kCut = '\x1d';
  std::vector<ReadDocument> documents;
  for (size_t from = 0; from <= text.size() && documents.size() < 8;) {
    const size_t cut = std::min(text.find(kCut, from), text.size());
    documents.push_back(diagnosis::read_document("fuzz", documents.size() % 2 == 0 ? "node-a" : "node-b", text.substr(from, cut - from), {}, {}));
    from = cut + 1;
  }
  conclude(documents);
  return 0;
}
