#include "replication/agreement/registry.h"

#include <array>
#include <cstddef>

#include "core/enum_names.h"
#include "replication/agreement/multi_paxos/multi_paxos.h"
#include "replication/agreement/one_paxos/one_paxos.h"
#include "replication/agreement/two_phase_commit/two_phase_commit.h"

namespace ingot::inline replication_agreement {
namespace {

template <typename Protocol>
std::unique_ptr<Agreement> make(const GroupConfig& group) {
  return std::make_unique<Protocol>(group);
}

constexpr std::array kEntries{
#define INGOT_X(id, name, type, ...) AgreementEntry{{__VA_ARGS__}, make<type>},
    INGOT_AGREEMENTS(INGOT_X)
#undef INGOT_X
};

}  // namespace

const AgreementEntry& entry_of(AgreementKind kind) { return kEntries[static_cast<std::size_t>(kind)]; }

AgreementTraits traits_of(std::string_view name) {
  const auto kind = value_of<AgreementKind>(name);
  return kind ? traits_of(*kind) : AgreementTraits{};
}

std::unique_ptr<Agreement> make_agreement(std::string_view name, const GroupConfig& group) {
  const auto kind = value_of<AgreementKind>(name);
  return kind ? make_agreement(*kind, group) : nullptr;
}

}  // namespace ingot::replication_agreement
