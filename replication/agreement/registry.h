// The traits of each agreement (replication/agreement/kind.h), and how to make one.
#pragma once

#include <memory>
#include <string_view>

#include "replication/agreement/agreement.h"
#include "replication/agreement/kind.h"

namespace ingot::inline replication_agreement {

struct AgreementEntry {
  AgreementTraits traits;
  std::unique_ptr<Agreement> (*make)(const GroupConfig& group);  // CHECK: `group` is as GroupConfig requires
};

const AgreementEntry& entry_of(AgreementKind kind);

inline AgreementTraits traits_of(AgreementKind kind) { return entry_of(kind).traits; }

inline std::unique_ptr<Agreement> make_agreement(AgreementKind kind, const GroupConfig& group) {
  return entry_of(kind).make(group);
}

// By name: the default traits, and null, for a name that no agreement has.
AgreementTraits traits_of(std::string_view name);
std::unique_ptr<Agreement> make_agreement(std::string_view name, const GroupConfig& group);

}  // namespace ingot::replication_agreement
