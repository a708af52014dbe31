// Runs of generations on modelled memory, with small nodes and rules that can be left out. Of no library that is
// compiled so but this one is any header included.
#pragma once

#include <cstdint>
#include <string>

namespace ingot::test {

// Each returns what was wrong; empty: nothing.

// A generation under random changes, beside the model: readers at its newest root and at older ones, and then readers
// on a weak machine over all that was stored.
std::string run_weak(std::uint64_t seed);

// A reader goes on at an old root while the writer changes keys away and back, before each of its loads in turn.
std::string run_interleaved(std::uint64_t seed);

// Readers of a generation whose loads return anything now and then. Every access must be inside, every read end.
std::string run_hostile(std::uint64_t seed);

}  // namespace ingot::test
