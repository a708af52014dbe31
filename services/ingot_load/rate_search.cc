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
  if (yes_ == kAgreeing) {
    held_ = rate_;
  } else if (no_ == kAgreeing) {
    missed_ = rate_;
  } else {
    return;
  }
  yes_ = no_ = 0;
  choose();
}

void RateSearch::choose() {
  rate_.reset();
  if (!missed_) return;  // the ceiling held
  if (!held_) {
    if (*missed_ > floor_per_s_) rate_ = std::max(*missed_ / 2, floor_per_s_);
    return;
  }
  if (*missed_ / *held_ > kRateStep) rate_ = std::sqrt(*missed_ * *held_);
}

}  // namespace ingot::load
