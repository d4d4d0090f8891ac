#include "transition/stage/extent_cut.h"

#include <algorithm>

namespace dynatrain::transition {
namespace {

// All three bounds of a rank: with slots of their full size; and part by part,
// what is held and what is held and packed.
struct Bounds {
  CutBound with_slots;
  CutBound held;
  CutBound packed;
};

Bounds BoundsOf(const RankNeed& need, int64_t allowed_bytes) {
  const int64_t room = allowed_bytes - need.base_bytes;
  return {
      .with_slots = {need.held_bytes, need.held_weight, room - need.slot_bytes},
      .held = {need.held_bytes, need.held_weight, room},
      .packed = {need.held_bytes + need.port_bytes,
                 need.held_weight + 2 * need.port_weight,
                 room + need.dead_bytes}};
}

RankNeed NeedOf(const RankTotals& totals, int64_t port_staging_bytes,
                int64_t dead_bytes) {
  const int64_t slots = std::min(port_staging_bytes, totals.sent_bytes) +
                        std::min(port_staging_bytes, totals.received_bytes);
  return {.held_bytes = totals.relayed_bytes,
          .held_weight = totals.relay_weight,
          .port_bytes = totals.sent_bytes + totals.received_bytes,
          .port_weight = totals.port_weight,
          .slot_bytes = std::max<int64_t>(0, slots - dead_bytes),
          .dead_bytes = dead_bytes};
}

std::optional<int64_t> PartsOfAll(absl::Span<const RankNeed> needs,
                                  absl::Span<const int64_t> allowed_bytes,
                                  int64_t unit_bytes) {
  int64_t parts = 1;
  for (size_t rank = 0; rank < needs.size(); ++rank) {
    const std::optional<int64_t> of_rank =
        needs[rank].Parts(allowed_bytes[rank], unit_bytes);
    if (!of_rank.has_value()) return std::nullopt;
    parts = std::max(parts, *of_rank);
  }
  return parts;
}

}  // namespace

std::optional<int64_t> RankNeed::Parts(int64_t allowed_bytes,
                                       int64_t unit_bytes) const {
  const Bounds bounds = BoundsOf(*this, allowed_bytes);
  const std::optional<int64_t> with_slots =
      PartsFor(bounds.with_slots, unit_bytes);
  const std::optional<int64_t> held = PartsFor(bounds.held, unit_bytes);
  const std::optional<int64_t> packed = PartsFor(bounds.packed, unit_bytes);
  if (!held.has_value() || !packed.has_value()) return with_slots;
  const int64_t by_part = std::max(*held, *packed);
  return std::min(with_slots.value_or(by_part), by_part);
}

int64_t RankNeed::LeastBytes(int64_t unit_bytes) const {
  const Bounds bounds = BoundsOf(*this, 0);
  const int64_t with_slots = LeastRoom(bounds.with_slots, unit_bytes);
  const int64_t held = LeastRoom(bounds.held, unit_bytes);
  const int64_t packed = LeastRoom(bounds.packed, unit_bytes);
  return base_bytes +
         std::min(with_slots + slot_bytes, std::max(held, packed - dead_bytes));
}

RankNeed TightNeed(const RankTotals& totals, int64_t port_staging_bytes,
                   int64_t dead_bytes) {
  RankNeed need = NeedOf(totals, port_staging_bytes, dead_bytes);
  need.base_bytes =
      totals.adopted_bytes +
      std::max(totals.freed_bytes, totals.made_bytes + totals.zero_bytes);
  need.held_bytes += std::min(totals.freed_bytes, totals.made_bytes);
  need.held_weight += totals.memory_weight;
  return need;
}

RankNeed SafeNeed(const RankTotals& totals, int64_t port_staging_bytes,
                  int64_t dead_bytes) {
  RankNeed need = NeedOf(totals, port_staging_bytes, dead_bytes);
  need.base_bytes =
      totals.source_bytes + totals.target_bytes - totals.adopted_bytes;
  return need;
}

std::optional<LineCut> CutFor(absl::Span<const RankNeed> needs,
                              absl::Span<const int64_t> allowed_bytes,
                              int64_t item_bytes) {
  const std::optional<int64_t> fewest =
      PartsOfAll(needs, allowed_bytes, item_bytes);
  if (!fewest.has_value()) return std::nullopt;
  for (int64_t unit = 1 << 20; unit > item_bytes; unit /= 4) {
    const std::optional<int64_t> parts = PartsOfAll(needs, allowed_bytes, unit);
    if (parts.has_value() && *parts <= *fewest + *fewest / 8) {
      return LineCut{*parts, unit};
    }
  }
  return LineCut{*fewest, item_bytes};
}

}  // namespace dynatrain::transition
