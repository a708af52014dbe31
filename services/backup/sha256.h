// SHA-256 of bytes that come in parts.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ingot::inline services_backup {

inline constexpr std::size_t kSha256Bytes = 32;

// Not thread-safe.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(const Sha256&) = delete;
  Sha256& operator=(const Sha256&) = delete;

  void add(std::string_view part);
  // kSha256Bytes bytes. To be called once, as the last function.
  std::string digest();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ingot::services_backup
