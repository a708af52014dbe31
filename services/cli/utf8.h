// UTF-8 text. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ingot::inline services_cli {

// Length of the valid sequence at the start of `bytes`; 0: there is none. Overlong forms and surrogates are not valid.
std::size_t utf8_length(std::string_view bytes);

bool is_utf8(std::string_view bytes);

// C0, DEL or C1. REQUIRES: `character` is not empty.
bool is_control(std::string_view character);

// Each byte as \xNN.
std::string hex_escaped(std::string_view bytes);

// Valid, and without control characters (C0, DEL, C1).
bool is_printable_utf8(std::string_view bytes);

// Escapes text for one line, or for a table's cell: control characters, line breaks, backslashes and bytes that are not
// UTF-8 become \n, \t, \\ or \xNN.
std::string printable(std::string_view bytes);

}  // namespace ingot::services_cli
