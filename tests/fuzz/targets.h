// Fuzz targets: each takes bytes from outside and aborts (INGOT_CHECK) if they lead to a wrong result. Deterministic.
// Each function has libFuzzer's interface under its own name, so that one driver can run all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/prng.h"
#include "tests/fuzz/client_schedule.h"

namespace ingot::fuzz {

struct Target {
  const char* name;
  void (*run)(std::string_view bytes);  // one input
  std::string (*sample)(Prng& rng);     // a valid input, from which mutations start
  std::uint64_t cost = 1;               // of an input, in others': fewer are run
};

// A store's request: bytes that decode are the only encoding of one request, and the store answers it.
void run_request(std::string_view bytes);
std::string sample_request(Prng& rng);

// A store's result.
void run_result(std::string_view bytes);
std::string sample_result(Prng& rng);

// A batch of commands, applied with its sessions.
void run_batch(std::string_view bytes);
std::string sample_batch(Prng& rng);

// A client's message to a replica, or back.
void run_message(std::string_view bytes);
std::string sample_message(Prng& rng);

// A snapshot of a store, with its checksum corrected first, so that fuzzing gets past the check.
void run_snapshot(std::string_view bytes);
std::string sample_snapshot(Prng& rng);

// An entry of the configuration log.
void run_entry(std::string_view bytes);
std::string sample_entry(Prng& rng);

// A message between replicas.
void run_agreement(std::string_view bytes);
std::string sample_agreement(Prng& rng);

// Messages between replicas about snapshots, sent to a replica that reads one and to one that serves it.
void run_snapshot_message(std::string_view bytes);
std::string sample_snapshot_message(Prng& rng);

// A snapshot of a replica as a file, with its checksums corrected first.
void run_snapshot_file(std::string_view bytes);
std::string sample_snapshot_file(Prng& rng);

// A backup, with its length and checksum corrected first.
void run_backup_file(std::string_view bytes);
std::string sample_backup_file(Prng& rng);

// Words of a view's generation that change between a reader's reads.
void run_generation(std::string_view bytes);
std::string sample_generation(Prng& rng);

// Words of a view's board and generation that change between a handle's reads.
void run_view(std::string_view bytes);
std::string sample_view(Prng& rng);

// A message of the supervision channel, as a process and as a new supervisor take it. The first byte says how many
// descriptors come with it.
void run_supervision_message(std::string_view bytes);
std::string sample_supervision_message(Prng& rng);

// A launch document.
void run_launch_document(std::string_view bytes);
std::string sample_launch_document(Prng& rng);

// Length-prefixed messages of gRPC, in any pieces.
void run_framing(std::string_view bytes);
std::string sample_framing(Prng& rng);

// What a client sends on a connection of HTTP/2, to a server with a few methods and narrow bounds.
void run_http2(std::string_view bytes);
std::string sample_http2(Prng& rng);

// JSON of a client, in any pieces.
void run_json(std::string_view bytes);
std::string sample_json(Prng& rng);

// What a client sends on a connection of HTTP/1.1 with calls, to a server with a few methods and narrow bounds.
void run_http1(std::string_view bytes);
std::string sample_http1(Prng& rng);

// What clients do to a loop that serves them, as a schedule: any frames and messages, slow reads, ends from either side,
// time. The server's memory stays within its named bounds, and an ordinary client has its answers.
void run_client(std::string_view bytes);

// What a client asks of Lease, Lock and Election, as a schedule. Who is told that a lock is held came first, no call
// waits once all keys are gone, and nothing of a call outlives it.
void run_locks(std::string_view bytes);
std::string sample_locks(Prng& rng);

inline const std::vector<Target>& targets() {
  static const std::vector<Target> all = {
      {"request", run_request, sample_request},
      {"result", run_result, sample_result},
      {"batch", run_batch, sample_batch},
      {"message", run_message, sample_message},
      {"snapshot", run_snapshot, sample_snapshot},
      {"entry", run_entry, sample_entry},
      {"agreement", run_agreement, sample_agreement},
      {"snapshot_message", run_snapshot_message, sample_snapshot_message},
      {"snapshot_file", run_snapshot_file, sample_snapshot_file},
      {"backup_file", run_backup_file, sample_backup_file},
      {"generation", run_generation, sample_generation},
      {"view", run_view, sample_view},
      {"supervision_message", run_supervision_message, sample_supervision_message},
      {"launch_document", run_launch_document, sample_launch_document},
      {"framing", run_framing, sample_framing},
      {"http2", run_http2, sample_http2},
      {"json", run_json, sample_json},
      {"http1", run_http1, sample_http1},
      {"locks", run_locks, sample_locks, /*cost=*/4},
      {"client", run_client, sample_client, /*cost=*/20},
  };
  return all;
}

}  // namespace ingot::fuzz
