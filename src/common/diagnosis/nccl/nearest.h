// What an unknown name was most likely meant to be.
#pragma once

#include <string>
#include <string_view>

namespace verl::nccl {

// Letters to change, add, leave out or swap with their neighbour; `most` + 1 when there are more than that.
int edit_distance(std::string_view a, std::string_view b, int most);

// The known name at a distance of at most 2 (1 for short ones), the nearest first; empty: none. Names nobody reads are never proposed.
std::string_view nearest_name(std::string_view name);

// The known name whose telling words all stand in this one, as vendors build them: NCCL_ACME_USE_DMABUF is close to NCCL_DMABUF_ENABLE.
std::string_view related_name(std::string_view name);

}  // namespace verl::nccl
