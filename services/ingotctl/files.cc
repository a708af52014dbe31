#include "services/ingotctl/files.h"

#include "core/planning/limits.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>


namespace ingot::inline services_ingotctl {
namespace {

struct Close {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

absl::Status cannot_read(const std::string& path) {
  return absl::InvalidArgumentError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<std::string> read_whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Close> file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (file == nullptr) return cannot_read(path);
  std::string text;
  char block[64 * 1024];
  while (const std::size_t bytes = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, bytes);
    if (text.size() > kMachineFileBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat(path, " has more than ", kMachineFileBytesMax, " bytes"));
    }
  }
  if (std::ferror(file.get())) return cannot_read(path);
  return text;
}

}  // namespace ingot::services_ingotctl
