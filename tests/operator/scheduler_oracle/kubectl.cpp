#include "kubectl.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace verl::oracle {

Output kubectl(const std::string& arguments) {
  Output output;
  const std::string command = "timeout 180 kubectl " + arguments;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) {
    return output;
  }
  std::array<char, 65536> piece{};
  for (std::size_t got = fread(piece.data(), 1, piece.size(), pipe); got > 0; got = fread(piece.data(), 1, piece.size(), pipe)) {
    output.text.append(piece.data(), got);
  }
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

bool create_all(const std::vector<nlohmann::json>& objects, const std::string& what) {
  std::string name = (std::filesystem::temp_directory_path() / ("verl-oracle-" + what + "-XXXXXX")).string();
  const int file = mkstemp(name.data());
  if (file < 0) {
    return false;
  }
  FILE* stream = fdopen(file, "w");
  const std::string text = nlohmann::json{{"apiVersion", "v1"}, {"kind", "List"}, {"items", objects}}.dump();
  const bool written = fwrite(text.data(), 1, text.size(), stream) == text.size();
  const bool created =
      fclose(stream) == 0 && written && kubectl("create --validate=false -o name -f " + name).exit_code == 0;
  std::filesystem::remove(name);
  return created;
}

}  // namespace verl::oracle
