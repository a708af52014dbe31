// Judges what a handle reads of a store whose state is computed from the revision (churn_truth.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/prng.h"
#include "replication/view/handle/handle.h"
#include "tests/replication/view/generation/churn_truth.h"

namespace ingot::test {

struct ChurnBounds {
  const std::atomic<ViewRevision>& answered;  // such writes were answered: a read may ask for as much
  const std::atomic<ViewRevision>& begun;     // no root is above it
  ViewRevision first = 1;                     // revisions below it have changed no key
};

// Each answer is judged by its revision alone, and the revisions by the bounds, which are written by other processes.
// The handle outlives it. Not thread-safe.
class ChurnJudge {
 public:
  ChurnJudge(ViewHandle& handle, const ChurnBounds& bounds, std::uint64_t seed)
      : handle_(handle), bounds_(bounds), prng_(seed) {}

  // Reads three keys at one root, or now and then all of them. Empty, or what was wrong.
  std::string read();

 private:
  std::string read_some();
  std::string read_all();
  bool fits(ViewRevision key, std::size_t& found);

  ViewHandle& handle_;
  const ChurnBounds bounds_;
  Prng prng_;
  const LastChurn last_;
  ViewAnswer answer_;
};

}  // namespace ingot::test
