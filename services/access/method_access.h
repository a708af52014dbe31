// Which methods need whom: one table of every method that an instance serves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace ingot::inline services_access {

enum class Needs : std::uint8_t {
  kNothing,  // every caller that reaches the door
  kOwner,    // the daemon's own user, or root, as the Unix socket's kernel credentials name the caller
};

struct MethodAccess {
  std::string_view path;  // "/etcdserverpb.KV/Put"
  Needs needs;
  // False: this version's service refuses the method to every caller, with its own words, so the gate lets it pass. Its
  // `needs` is what holds once a service carries it out.
  bool carried_out;
  std::string_view why;  // a clause, for people
};

// All rows, by service. A test compares them with the services' definitions. Thread-safe.
std::span<const MethodAccess> method_accesses();

// Whether a method is for the owner alone. False for a method without a row, which no service has. Thread-safe; takes
// no lock and allocates nothing.
bool needs_owner(std::string_view path);

}  // namespace ingot::services_access
