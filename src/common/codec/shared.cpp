// Metadata and conditions, which every kind has.
#include "codec/kinds.h"

namespace verl::codec {

void read(Element value, api::Meta& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "name") {
      read(field, out.name, place, faults);
    } else if (key == "namespace") {
      read(field, out.name_space, place, faults);
    } else if (key == "uid") {
      read(field, out.uid, place, faults);
    } else if (key == "resourceVersion") {
      read(field, out.resource_version, place, faults);
    } else if (key == "generation") {
      read(field, out.generation, place, faults);
    } else if (key == "labels") {
      read(field, out.labels, place, faults);
    } else if (key == "creationTimestamp") {
      read(field, out.created, place, faults);
    } else if (key == "deletionTimestamp") {
      read(field, out.deleted, place, faults);
    }
  });
}

void read(Element value, api::ConditionStatus& out, const Place& at, Faults& faults) {
  static constexpr std::pair<std::string_view, api::ConditionStatus> kWords[] = {
      {"True", api::ConditionStatus::True}, {"False", api::ConditionStatus::False}, {"Unknown", api::ConditionStatus::Unknown}};
  out = api::ConditionStatus::Unknown;
  read_word(value, out, kWords, at, faults);
}

void read(Element value, api::Condition& out, const Place& at, Faults& faults) {
  each_field(value, at, faults, [&](std::string_view key, Element field, const Place& place) {
    if (key == "type") {
      read(field, out.type, place, faults);
    } else if (key == "status") {
      read(field, out.status, place, faults);
    } else if (key == "reason") {
      read(field, out.reason, place, faults);
    } else if (key == "message") {
      read(field, out.message, place, faults);
    } else if (key == "lastTransitionTime") {
      read(field, out.last_transition, place, faults);
    } else if (key == "observedGeneration") {
      read(field, out.observed_generation, place, faults);
    }
  });
}

void read(Element value, std::vector<api::Condition>& out, const Place& at, Faults& faults) {
  read_list(value, out, at, faults, [&](Element item, api::Condition& condition, const Place& place) { read(item, condition, place, faults); });
}

}  // namespace verl::codec
