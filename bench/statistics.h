// Medians and spread of repetitions, and their ratios.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/strings/str_format.h"

namespace ingot::bench {

struct Quantiles {
  double p10 = 0, median = 0, p90 = 0;
};

// REQUIRES: values is not empty.
inline Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(std::lround(share * static_cast<double>(values.size() - 1)))];
  };
  return {at(0.1), at(0.5), at(0.9)};
}

// Ratios repetition by repetition, so that disturbances of both cancel out. REQUIRES: equal sizes.
inline std::vector<double> ratios(const std::vector<double>& values, const std::vector<double>& base) {
  std::vector<double> result;
  for (std::size_t i = 0; i < values.size(); ++i) result.push_back(values[i] / base[i]);
  return result;
}

// Adds "name_median", "name_p10" and "name_p90", with three decimals.
inline void add(nlohmann::ordered_json& object, const std::string& name, const Quantiles& q) {
  const auto round = [](double v) { return std::round(v * 1000) / 1000; };
  object[name + "_median"] = round(q.median);
  object[name + "_p10"] = round(q.p10);
  object[name + "_p90"] = round(q.p90);
}

inline std::string cell(const Quantiles& q, int digits) {
  return absl::StrFormat("%.*f (%.*f to %.*f)", digits, q.median, digits, q.p10, digits, q.p90);
}

}  // namespace ingot::bench
