// PCI addresses as tools write them: with or without a domain, of four or eight digits, in either case.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verl::topology {

// "00000000:1B:00.0", "1b:00.0", "0000:1b:00" -> "0000:1b:00.0"; a domain above ffff keeps its digits. Nothing for other text.
std::optional<std::string> parse_bus_id(std::string_view text);

// As nvidia-smi prints it: "00000000:1B:00.0"; other text stays.
std::string nvidia_bus_id(const std::string& bus_id);

}  // namespace verl::topology
