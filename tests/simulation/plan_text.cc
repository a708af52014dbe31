// The names of faults, for traces and reports.
#include <sstream>
#include <string>

#include "tests/simulation/plan.h"

namespace ingot::simulation {

namespace {

using Kind = Fault::Kind;
using Victims = Fault::Victims;

std::string in_ms(TimeNs time) {
  std::ostringstream out;
  out << static_cast<double>(time) / static_cast<double>(kMs) << " ms";
  return out.str();
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::kKill:
      return "kill";
    case Kind::kStop:
      return "stop";
    case Kind::kSlowLink:
      return "slow link";
    case Kind::kMoveLeader:
      return "move leader";
    case Kind::kMoveAcceptor:
      return "move acceptor";
    case Kind::kPressure:
      return "pressure";
    case Kind::kDoubt:
      return "doubt";
  }
  return "unknown";
}

const char* name_of(Victims victims) {
  switch (victims) {
    case Victims::kAnybody:
      return "anybody";
    case Victims::kLeader:
      return "leader";
    case Victims::kAcceptor:
      return "acceptor";
    case Victims::kBystander:
      return "bystander";
    case Victims::kLeaderAndAcceptor:
      return "leader and acceptor";
    case Victims::kKillLeaderStopAcceptor:
      return "leader, and stop acceptor";
    case Victims::kEverybody:
      return "everybody";
    case Victims::kMost:
      return "most";
    case Victims::kPromiser:
      return "a replica that promises";
    case Victims::kAuthor:
      return "the author of an entry";
  }
  return "unknown";
}

std::string describe(const Fault& fault) {
  std::string text = std::string(name_of(fault.kind)) + " " + name_of(fault.victims) + " at " + in_ms(fault.at) +
                     " for " + in_ms(fault.lasts_ns);
  if (fault.kind == Kind::kKill && fault.for_good) text += ", for good if a majority is left";
  if (fault.steps > 0) text += ", after " + std::to_string(fault.steps) + " steps";
  return text;
}

}  // namespace ingot::simulation
