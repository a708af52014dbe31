// The agreements by name: all that a new one touches outside of its own folder.
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

// In the order in which they are listed to users.
std::span<const AgreementEntry> agreements();

// Null for a name that no agreement has.
const AgreementEntry* find_agreement(std::string_view name);

// The traits alone; the default ones for a name that no agreement has.
AgreementTraits traits_of(std::string_view name);

// The object alone; null for such a name.
std::unique_ptr<Agreement> make_agreement(std::string_view name, const GroupConfig& group);

}  // namespace ingot
