// A stable segment with its writer, for tests.
#pragma once

#include <catch2/catch.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "replication/stable/limits.h"
#include "replication/stable/segment.h"
#include "replication/stable/view.h"

namespace ingot {

// A segment with its writer and a reader's mapping.
struct SegmentFixture {
  Descriptor fd;
  std::unique_ptr<StableSegment> writer;
  Segment reader;

  explicit SegmentFixture(std::size_t bytes = kStableSegmentBytes) {
    auto created = create_segment("ingot-test-stable", bytes);
    REQUIRE(created.ok());
    fd = *std::move(created);
    auto opened = StableSegment::open(fd.get(), EndpointId(2), Incarnation(3), bytes);
    REQUIRE(opened.ok());
    writer = *std::move(opened);
    auto mapped = Segment::map(fd.get(), Segment::Access::kReadOnly);
    REQUIRE(mapped.ok());
    reader = *std::move(mapped);
  }

  StableView view() const {
    auto view = StableView::read(reader.bytes());
    INFO(view.status());
    REQUIRE(view.ok());
    return *view;
  }
};

inline std::shared_ptr<const std::string> text(std::string command) {
  return std::make_shared<const std::string>(std::move(command));
}

}  // namespace ingot
