// A group that stands still says why.
#pragma once

#include <cstdint>
#include <string>

#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/history/virtual_time.h"

namespace ingot::simulation {

// If clients wait and nothing is decided or answered for `patience_ns`, while the same replicas run, then at least one
// of these shows a cause, but for at most `blink_ns`: a replica that answers, or catches up with decisions of before,
// takes its cause back, and waits again before it says so. Not thread-safe.
class BlockChecker : public Checker {
 public:
  struct Moment {
    TimeNs now = 0;
    bool clients_wait = false;
    std::uint64_t progress = 0;  // grows with each decision and answer
    std::uint64_t running = 0;   // differs once other replicas, or other incarnations, run; 0: none runs
  };

  void set_patience(TimeNs patience_ns, TimeNs blink_ns) {
    patience_ns_ = patience_ns;
    blink_ns_ = blink_ns;
  }

  // To be called after each event. `says` is asked for only if the group has stood still for long: true if a running
  // replica shows a cause.
  template <typename Says>
  void observe(const Moment& moment, const Says& says) {
    const bool same = moment.progress == last_.progress && moment.running == last_.running;
    if (!moment.clients_wait || moment.running == 0 || !same) since_ = moment.now;
    last_ = moment;
    if (moment.now - since_ < patience_ns_ || says()) silent_since_ = moment.now;
    if (moment.now - silent_since_ < blink_ns_) return;
    object("silence: clients wait, nothing is decided for " + std::to_string(patience_ns_ / kMs) +
           " ms, and no replica that runs says why");
  }

 private:
  TimeNs patience_ns_ = kNever;
  TimeNs blink_ns_ = 0;
  TimeNs since_ = 0;
  TimeNs silent_since_ = 0;  // no cause is shown, though it should be
  Moment last_;
};

}  // namespace ingot::simulation
