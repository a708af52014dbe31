// Bounds of the store's structures, with their units, and what happens at each.
#pragma once

#include <cstddef>

#include "core/rule.h"
#include "replication/requests/limits.h"

namespace ingot::inline replication_view_index {

// In mutable libraries (core/rule.h) nodes hold little, so that short runs have some of each kind.
inline constexpr bool kSmallNodes = !INGOT_CONSTANT_RULES;

// Of a key, and of a value; more is a bug (CHECK).
inline constexpr std::size_t kStoredBytesMax = kSmallNodes ? 4096 : kRequestBytesMax;
inline constexpr std::size_t kKeyBytesInNode = kSmallNodes ? 40 : 2048;  // the rest of a longer key is in pieces
inline constexpr std::size_t kValueBytesInNode = kSmallNodes ? 48 : 3840;  // a longer value is in pieces
inline constexpr std::size_t kPieceBytes = kSmallNodes ? 32 : 4080;  // of a key or value in one piece

}  // namespace ingot::replication_view_index
