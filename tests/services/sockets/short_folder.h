// A folder with a short path, for Unix sockets: the one that Bazel gives to a test may be too long.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace ingot {

// Removed with all that is in it when this ends.
class ShortFolder {
 public:
  ShortFolder() {
    char path[] = "/tmp/ingot-socket-XXXXXX";
    REQUIRE(::mkdtemp(path) != nullptr);
    path_ = path;
  }
  ~ShortFolder() { std::filesystem::remove_all(path_); }
  ShortFolder(const ShortFolder&) = delete;
  ShortFolder& operator=(const ShortFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace ingot
