// etcd's flags and variables on ingotd's command line: those with a meaning here become ingotd's own, and the others
// are refused with a sentence that says what to do instead. docs/etcd.md lists them.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"

namespace ingot::inline services_ingotd {

// How an etcd's flag is treated here.
struct EtcdFlag {
  const char* name;    // with its dashes
  const char* ours;    // ingotd's flag; null: it has no meaning here
  bool url;            // its value is a URL, ours HOST:PORT
  const char* remedy;  // for people, if it has none
};

// All that are known, for docs and tests.
const std::vector<EtcdFlag>& etcd_flags();

// Replaces etcd's flags among the words of a command line by ingotd's. Errors: INVALID_ARGUMENT with one sentence.
absl::Status translate_etcd_flags(std::vector<std::string>& words);

// Sets those variables INGOT_... that are not set from the ones of etcd, ETCD_..., that are. As with etcd, an empty one
// counts as not set. To be called while there is one thread. Errors: as above.
absl::Status translate_etcd_variables();

// Both.
inline absl::Status translate_etcd(std::vector<std::string>& words) {
  const absl::Status status = translate_etcd_flags(words);
  return status.ok() ? translate_etcd_variables() : status;
}

}  // namespace ingot::services_ingotd
