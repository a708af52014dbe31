#include "services/metrics/view_collectable.h"

#include <utility>

#include "services/metrics/families.h"

namespace ingot::inline services_metrics {
namespace {

struct Row {
  const char* name;
  Counter ViewPage::*value;
  bool counter;
  const char* help;
};

constexpr Row kRows[] = {
    {"ingot_view_generation", &ViewPage::generation, false, "Number of the view's generation that readers read."},
    {"ingot_view_revision", &ViewPage::revision, false, "Revision that the view shows."},
    {"ingot_view_keys", &ViewPage::keys, false, "Keys in the view."},
    {"ingot_view_bytes", &ViewPage::bytes, false, "Bytes of the view's generation."},
    {"ingot_view_live_bytes", &ViewPage::live_bytes, false, "Bytes of the view's generation that are in use."},
    {"ingot_view_full", &ViewPage::full, false, "1 while the keys need more memory than the view may have."},
    {"ingot_view_roots_total", &ViewPage::roots, true, "States of the view that were published."},
    {"ingot_view_generations_total", &ViewPage::generations, true, "Generations of the view that were begun."},
    {"ingot_view_connections", &ViewPage::connections, false, "Connections to the view socket."},
    {"ingot_view_tickets_total", &ViewPage::accepted, true, "Connections that were given the view's memory."},
    {"ingot_view_refused_total", &ViewPage::refused, true, "Connections to the view socket that were refused."},
};

}  // namespace

std::vector<prometheus::MetricFamily> ViewCollectable::Collect() const {
  std::vector<prometheus::MetricFamily> families;
  if (page_.pid.get_acquire() == 0) return families;
  for (const Row& row : kRows) {
    auto family = row.counter ? counter_family(row.name, row.help) : gauge_family(row.name, row.help);
    add_value(family, {}, static_cast<double>((page_.*row.value).get()));
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace ingot::services_metrics
