// Bounds of the load generator, and what happens when one is reached.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot::inline services_ingot_load {

inline constexpr int kLoadClientsMax = 4096;         // more are refused (a value's stamp has 16 bits for the client)
inline constexpr int kLoadConnectionsMax = 256;      // more are refused
inline constexpr int kLoadThreadsMax = 16;           // more are refused
inline constexpr int kLoadKeysMax = 1000 * 1000;     // more are refused: the ledger has an entry for each
inline constexpr int kLoadValueBytesMax = 1024 * 1024;  // more is refused: a put with its key fits a request
inline constexpr int kLoadWatchersMax = 100 * 1000;  // more are refused; a server may have a lower bound
inline constexpr int kLoadWatchesAhead = 32;         // of a stream are asked for before the server has answered
inline constexpr int kLoadLeasesMax = 200 * 1000;    // more are refused; likewise
inline constexpr int kLoadLeaseTtlSMin = 5;          // a TTL outside of this is refused: servers raise a lower one
inline constexpr int kLoadLeaseTtlSMax = 3600;
inline constexpr int kLoadRetryPauseMs = 20;         // a client's wait before it tries to reconnect
inline constexpr int kLoadCheckPageKeys = 1000;      // keys that the final check reads at once, or fewer if large:
inline constexpr int kLoadCheckPageBytes = 4 * 1024 * 1024;  // of their values together
inline constexpr std::size_t kLoadAnswerBytesMax = INT32_MAX;  // of one answer, as Protocol Buffers can parse: another
                                                               // run may have left larger values under the prefix
inline constexpr int kRateStepsMax = 60;       // measurements of a search for a rate; then it ends with what it has
inline constexpr double kRateStep = 1.05;      // between the rate that is found and the next that does not hold
inline constexpr int kTargetRequestsMin = 200;  // in a measurement; fewer say nothing about a 99th percentile, so no
                                                // lower rate is tried

}  // namespace ingot::services_ingot_load
