#include "diagnosis/time/facts.h"

#include <algorithm>
#include <utility>

namespace verl::clock {
namespace {

bool tells_discipline(const Statement& one) {
  return one.witness != Witness::Query && one.witness != Witness::Journal && one.witness != Witness::PtpClock && one.state != State::Unknown;
}

void draw(Facts& facts) {
  const Statement* best = decisive(facts);
  if (best) {
    facts.synchronised = best->state == State::Synchronised || best->state == State::KernelOnly;
    facts.local_only = best->state == State::LocalOnly;
    facts.server_is_local = best->server_is_local;
    if (!best->reference.empty()) facts.reference = best->reference;
    if (best->stratum) facts.stratum = best->stratum;
  }
  // An offset may come from a witness that says nothing about discipline; the best one that has it counts.
  const Statement* measured = nullptr;
  for (const Statement& one : facts.statements) {
    if (one.witness == Witness::Journal || one.witness == Witness::PtpClock || !one.offset_s) continue;
    if (!measured || one.witness < measured->witness) measured = &one;
  }
  if (!measured) return;
  facts.offset_s = measured->offset_s;
  facts.error_bound_s = measured->bound_s;
}

}  // namespace

const Statement* decisive(const Facts& facts) {
  const Statement* best = nullptr;
  for (const Statement& one : facts.statements) {
    if (tells_discipline(one) && (!best || one.witness < best->witness)) best = &one;
  }
  return best;
}

void add(Facts& facts, Statement statement) {
  facts.statements.push_back(std::move(statement));
  draw(facts);
}

void merge(Facts& into, Facts more) {
  if (!into.offset_s) into.offset_s = more.offset_s;
  if (!into.error_bound_s) into.error_bound_s = more.error_bound_s;
  if (into.reference.empty()) into.reference = std::move(more.reference);
  if (!into.stratum) into.stratum = more.stratum;
  if (!into.synchronised) into.synchronised = more.synchronised;
  if (!into.local_only) into.local_only = more.local_only;
  if (!into.server_is_local) into.server_is_local = more.server_is_local;
  for (Statement& one : more.statements) {
    if (std::find(into.statements.begin(), into.statements.end(), one) == into.statements.end()) into.statements.push_back(std::move(one));
  }
  draw(into);
}

}  // namespace verl::clock
