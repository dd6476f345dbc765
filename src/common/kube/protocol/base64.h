// Base64 as kubeconfig files and Secrets use it (RFC 4648 §4, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace verl::kube {

std::string encode_base64(std::string_view bytes);
std::optional<std::string> decode_base64(std::string_view text);  // line breaks and spaces are skipped; nullopt for anything else that is wrong

}  // namespace verl::kube
