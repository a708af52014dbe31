// What most tests include, besides. As most.hh.
#include <catch2/catch.hpp>

#include "third_party/precompiled/most.hh"
