#include "services/ingot_load/rate_search.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"
#include "services/ingot_load/limits.h"

namespace ingot::load {
namespace {

constexpr int kAgreeing = 2;  // measurements

}  // namespace

RateSearch::RateSearch(double ceiling_per_s, double floor_per_s)
    : floor_per_s_(floor_per_s), rate_(std::max(ceiling_per_s, floor_per_s)) {
  INGOT_CHECK(ceiling_per_s > 0 && floor_per_s > 0);
}

std::optional<double> RateSearch::next() const { return ended_by_bound() ? std::nullopt : rate_; }

bool RateSearch::ended_by_bound() const { return rate_ && steps_ >= kRateStepsMax; }

void RateSearch::measured(bool held) {
  INGOT_CHECK(next().has_value());
  ++steps_;
  ++(held ? yes_ : no_);
  if (std::max(yes_, no_) < kAgreeing) return;
  judged(yes_ == kAgreeing);
  yes_ = no_ = 0;
  choose();
}

void RateSearch::judged(bool held) {
  const bool known = lowest_missed() == rate_;  // it is measured anew
  overturned_ = held && known;
  if (held) {
    held_ = rate_;
    if (known) missed_.pop_back();
  } else if (!known) {
    missed_.push_back({*rate_});
  }
}

void RateSearch::choose() {
  rate_.reset();
  if (missed_.empty()) return;  // the ceiling held
  Missed& lowest = missed_.back();
  if (overturned_ && !lowest.anew) {
    lowest.anew = true;
    rate_ = lowest.rate_per_s;
  } else if (!held_ && lowest.rate_per_s > floor_per_s_) {
    rate_ = std::max(lowest.rate_per_s / 2, floor_per_s_);
  } else if (held_ && lowest.rate_per_s / *held_ > kRateStep) {
    rate_ = std::sqrt(lowest.rate_per_s * *held_);
  } else if (!lowest.anew) {
    lowest.anew = true;
    rate_ = lowest.rate_per_s;
  }
}

}  // namespace ingot::load
