// Bounds of the load generator, with their units, and what happens at them.
#pragma once

namespace ingot {

inline constexpr int kLoadClientsMax = 4096;         // more are refused (a client's number is 16 bits of a value's stamp)
inline constexpr int kLoadConnectionsMax = 256;      // more are refused
inline constexpr int kLoadThreadsMax = 16;           // more are refused
inline constexpr int kLoadKeysMax = 1000 * 1000;     // more are refused: what is known of each is kept for the check
inline constexpr int kLoadValueBytesMax = 1024 * 1024;  // more is refused: a put with its key stays below the request limit
inline constexpr int kLoadRetryPauseMs = 20;         // how long a client waits before it looks for the server again
inline constexpr int kLoadCheckPageKeys = 1000;      // keys that the final check reads at once, or fewer if large:
inline constexpr int kLoadCheckPageBytes = 4 * 1024 * 1024;  // of their values together

}  // namespace ingot
