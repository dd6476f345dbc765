// Kubernetes resource quantities ("8", "190", "500m", "2Ti", "1e3"), as the apiserver reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace verl {

// Thousandths of one unit, rounded up as the scheduler does; nullopt for text that is no quantity, for negative
// values and for values beyond the range (about 9.2e15 units). Source: k8s.io/apimachinery/pkg/api/resource.
std::optional<std::int64_t> parse_quantity_milli(std::string_view text);

// Whole units, rounded up (extended resources, bytes, pods).
std::optional<std::int64_t> parse_quantity(std::string_view text);

// Canonical text of a byte count: the largest binary suffix that divides it ("64Gi", "1536Mi", "1000").
std::string format_bytes_quantity(std::int64_t bytes);

}  // namespace verl
