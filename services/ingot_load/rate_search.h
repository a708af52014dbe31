// Searches for the highest rate that a server sustains, from measurements that may be wrong now and then. Knows no
// clock and no server.
//
// The rate of a closed loop is the ceiling. Below it the search halves the rate until one holds, and then narrows the
// range between the highest that holds and the lowest that does not, in ratios, until they are kRateStep apart.
//
// One measurement may miss for a reason outside the server: another process ran for some milliseconds. So a rate holds,
// or does not, by two measurements out of at most three that agree. A disturbance may last for longer than that: at its
// end the search measures the lowest rate that has missed anew, and if it holds now, goes on above it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace ingot::load {

class RateSearch {
 public:
  // `ceiling_per_s` > 0: no higher rate is tried. `floor_per_s` > 0: no lower one; below it a measurement has too few
  // requests.
  RateSearch(double ceiling_per_s, double floor_per_s);

  // The rate to measure next. Nothing: the search is over, after at most kRateStepsMax measurements.
  std::optional<double> next() const;

  // Tells whether the rate of next() held in a measurement.
  void measured(bool held);

  // The highest rate that has held so far; nothing: none has.
  std::optional<double> highest_held() const { return held_; }
  // The lowest that has not; nothing: all have held, so the ceiling is the bound, not the server.
  std::optional<double> lowest_missed() const {
    return missed_.empty() ? std::nullopt : std::optional(missed_.back().rate_per_s);
  }
  int steps() const { return steps_; }
  bool ended_by_bound() const;

 private:
  struct Missed {
    double rate_per_s;
    bool anew = false;  // it was measured anew, or is now
  };

  void judged(bool held);
  void choose();

  const double floor_per_s_;
  std::optional<double> held_;
  std::vector<Missed> missed_;  // falling
  bool overturned_ = false;     // the last judgement: a rate that had missed holds, and perhaps the next one does, too
  std::optional<double> rate_;  // being measured
  int yes_ = 0, no_ = 0;        // measurements of it
  int steps_ = 0;
};

}  // namespace ingot::load
