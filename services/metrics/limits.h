// The bounds of metrics and of the server that hands them out, and what happens when they are reached.
#pragma once

namespace ingot::inline services_metrics {

inline constexpr int kRequestMetricShards = 8;     // sets of request counters; more threads share them, which is slower

// On the clients' port a loop makes the text, while its other clients wait: some ms. It is made again no sooner.
inline constexpr int kMetricsTextAgeMs = 200;

// Connections to the metrics port. Each holds a descriptor, a request and one answer (about 1 MiB at most, with 48
// replicas); one more closes the oldest of the address that has the most.
inline constexpr int kMetricsConnectionsMax = 32;
// A request's line and headers; a longer one is refused.
inline constexpr int kMetricsRequestBytesMax = 8 * 1024;
// From a connection's begin to the end of its request; then it gets an error instead of the metrics.
inline constexpr int kMetricsRequestTimeoutMs = 5'000;
// For a client to take its answer and to close the connection; then the server resets it, and the rest of the answer is
// dropped.
inline constexpr int kMetricsAnswerTimeoutMs = 10'000;
// Between two looks whether a client that has ended its sending has taken its answer. Until then, or until the time
// above is over, its connection counts.
inline constexpr int kMetricsTakenPollMs = 50;
// What a client may send beyond the request that is answered; then the server resets the connection, and the client may
// lose the answer.
inline constexpr int kMetricsSurplusBytesMax = 1024 * 1024;
// Between two tries to accept a connection while the process has no descriptor for it.
inline constexpr int kMetricsAcceptRetryMs = 100;

}  // namespace ingot::services_metrics
