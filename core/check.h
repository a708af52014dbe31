// Checks that stay on in every build. A failed check is a bug in Ingot: it prints place and reason, and aborts. Bad
// input from outside is never a check; it is an absl::Status.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace ingot::internal {

[[noreturn]] inline void check_failed(const char* file, int line, const char* what, const char* why) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, what, *why ? ": " : "", why);
  std::fflush(stderr);
  std::abort();
}

}  // namespace ingot::internal

// INGOT_CHECK(condition) or INGOT_CHECK(condition, "why it must hold").
#define INGOT_CHECK(condition, ...)                                                              \
  do {                                                                                           \
    if (!(condition)) [[unlikely]]                                                               \
      ::ingot::internal::check_failed(__FILE__, __LINE__, #condition, "" __VA_ARGS__);           \
  } while (false)
