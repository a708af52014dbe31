// The agreements by name: the only place outside of its own folder that a new agreement touches.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "replication/agreement/agreement.h"

namespace ingot {

struct AgreementEntry {
  std::string_view name;  // as in --agreement
  AgreementTraits traits;
  std::unique_ptr<Agreement> (*make)(const GroupConfig& group);  // CHECK: `group` is as GroupConfig requires
};

// In the order in which users see them.
std::span<const AgreementEntry> agreements();

// Null if no agreement has that name.
const AgreementEntry* find_agreement(std::string_view name);

// The traits alone; default ones if no agreement has that name.
AgreementTraits traits_of(std::string_view name);

// The object alone; null if no agreement has that name.
std::unique_ptr<Agreement> make_agreement(std::string_view name, const GroupConfig& group);

}  // namespace ingot
