// Known bugs: rules left out one at a time, to show that they are found. A rule is named where it is kept: with
// INGOT_RULE (core/rule.h) inside the protocols and the replica's core, or in the simulated replica or supervisor.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ingot::simulation {

struct Mutant {
  const char* rule;
  const char* places;   // the functions that keep it
  const char* without;  // what happens when it is left out
  const char* agreement;
  int replicas;
  const char* checkers;  // those that object: the first words of their violations
  std::uint64_t one_in;  // seeds for each one in which they object, as measured; 0: too rare to be measured
  std::uint64_t tried;   // seeds that were measured
  // A file in tests/replication/agreement/scenarios, and what it shows: "agreement", that two replicas decide
  // differently in one slot, or "trace", another wrong step. Both empty: none.
  const char* scenario;
  const char* shows;

  // Within so many seeds they object: all of them are missed once in e^20 times, or in e^14 if the true share of seeds
  // is a third less than the measured one.
  std::uint64_t seeds() const { return 20 * one_in; }
};

std::span<const Mutant> all_mutants();
const Mutant* find_mutant(std::string_view rule);  // null: no such rule

// The table in docs/simulation.md.
std::string table_of_mutants();

}  // namespace ingot::simulation
