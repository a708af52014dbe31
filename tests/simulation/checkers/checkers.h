// All checkers of one run.
#pragma once

#include <string>

#include "tests/simulation/checkers/block.h"
#include "tests/simulation/checkers/digest.h"
#include "tests/simulation/checkers/effect.h"
#include "tests/simulation/checkers/log.h"
#include "tests/simulation/checkers/revision.h"
#include "tests/simulation/checkers/stable.h"

namespace ingot::simulation {

struct Checkers {
  explicit Checkers(int replicas) : log(replicas), effects(replicas) {}

  LogChecker log;
  EffectChecker effects;
  DigestChecker digests;
  RevisionChecker revisions;
  StableChecker stable;
  BlockChecker blocks;

  // The first violation, or an empty sentence.
  const std::string& violation() const {
    for (const Checker* checker : {static_cast<const Checker*>(&log), static_cast<const Checker*>(&effects),
                                   static_cast<const Checker*>(&digests), static_cast<const Checker*>(&revisions),
                                   static_cast<const Checker*>(&stable), static_cast<const Checker*>(&blocks)}) {
      if (!checker->violation().empty()) return checker->violation();
    }
    return log.violation();
  }
};

}  // namespace ingot::simulation
