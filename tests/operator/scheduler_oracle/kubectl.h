// kubectl as a way to reach the plane that the environment names: a few bulk calls, nothing more.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace verl::oracle {

struct Output {
  int exit_code{-1};
  std::string text{};  // standard output; standard error goes to the test's own
};

// Ends with kubectl, which has its own time limit. Arguments are words without quotes.
Output kubectl(const std::string& arguments);

// Creates all objects in one call; true when kubectl says so.
bool create_all(const std::vector<nlohmann::json>& objects, const std::string& what);

}  // namespace verl::oracle
