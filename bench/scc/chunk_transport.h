// A transport between the cores of the simulated chip for messages of up to a chunk, in one copy on each side.
//
// Short messages go through NVP. A longer one is put into a buffer of the sender's own MPB, and NVP carries a notice of
// it; the receiver gets it into its private memory, and tells the sender. A message that goes to several receivers, as
// a broadcast's does, is put once. Two buffers a core, so that one is filled while the other is fetched.
//
// Where private memory is read and written is decided by the message's tag: the place of a chunk in the payload, or of
// a reduction's incoming chunk in its rooms (transport/collectives). The bytes that the engine handles are the host's;
// the copies between private memory and MPBs are those of the chip, with their costs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/scc/chip_transport.h"
#include "transport/scc/interrupts/interrupts.h"

namespace ingot::scc {

// Endpoint i is core i. Errors: those of lay_out.
absl::StatusOr<ChipFabric> lay_out_chunks(int cores);

// One core's end. Used on its fibre, by the program or by its interrupt handler, never by both at once.
class ChunkTransport final : public Transport {
 public:
  static constexpr std::size_t kChunkLines = 72;
  static constexpr std::size_t kMessageBytesMax = kChunkLines * kLineBytes;

  ChunkTransport(const ChipFabric& fabric, Core& core);

  EndpointId self() const override { return control_->self(); }
  // REQUIRES: at most kMessageBytesMax, of a progress engine.
  [[nodiscard]] bool send(EndpointId dest, std::span<const std::byte> message) override;
  int probe(Handler handler, int limit) override;
  bool flush() override;
  bool parts_moved() override { return control_->parts_moved(); }
  bool readable() override { return control_->readable(); }
  void peer_gone(EndpointId peer) override { control_->peer_gone(peer); }

  // Whether to interrupt cores that have a reason to call their engine: something was sent to them, and if that was an
  // acknowledgement, they wait for a buffer; or their inbox is full, perhaps of acknowledgements.
  void interrupt_others(bool yes) { interrupt_others_ = yes; }
  // Interrupts those, all by one request. Called at the end of a round; the transport itself does it before a copy,
  // which takes longer than an interrupt.
  void interrupt_told();
  // True if this core has begun to wait for a buffer since the last call: an acknowledgement may have come just before
  // others could see that, so the caller probes again.
  bool take_began_to_wait() { return std::exchange(began_to_wait_, false); }
  // Polls until something has come or the deadline has passed.
  void wait(Picoseconds deadline_ps) { wait_readable(fabric_, core_, *control_, deadline_ps); }

 private:
  struct Buffer {
    std::vector<std::byte> content;  // what is in the MPB
    int readers = 0;                 // that have not fetched it
  };

  bool tell(EndpointId dest, std::span<const std::byte> control);
  void say_that_it_waits(bool waits);
  bool acknowledge(EndpointId to, std::uint8_t buffer);
  int put(std::span<const std::byte> message);
  void fetch(EndpointId from, std::span<const std::byte> notice, Handler handler);

  const ChipFabric& fabric_;
  Core& core_;
  std::unique_ptr<Transport> control_;
  std::array<Buffer, 2> buffers_;
  std::deque<std::pair<EndpointId, std::uint8_t>> unacknowledged_;  // fetched, but the channel was full
  CoreSet told_ = 0;  // not interrupted yet
  bool interrupt_others_ = false;
  bool waits_ = false;  // for a buffer, as a word of the own MPB says
  bool began_to_wait_ = false;
};

}  // namespace ingot::scc
