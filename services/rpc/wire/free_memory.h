// Gives a string's memory back.
#pragma once

#include <string>

namespace ingot::rpc::inline wire {

// Empties `text` and frees its buffer. An assignment of an empty string would keep the buffer (libstdc++).
inline void free_memory(std::string& text) { std::string().swap(text); }

}  // namespace ingot::rpc::wire
