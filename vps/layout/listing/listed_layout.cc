#include "vps/layout/listing/listed_layout.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "vps/layout/layout_builder.h"
#include "vps/layout/listed_copy.h"
#include "vps/layout/listing/copies.h"
#include "vps/layout/mesh.h"
#include "vps/layout/placement.h"

namespace dynatrain::vps {
namespace {

std::string PlaceOf(int rank, size_t index, const ListedTensor& tensor) {
  return absl::StrCat("rank ", rank, ": tensors[", index, "] (",
                      tensor.spec.Id(), ")");
}

// What ranks hold together of one tensor, under one live name.
struct Part {
  ListedMemory memory;
  std::vector<int> ranks;
  std::string live_name;
};

struct Gathered {
  const TensorSpec* spec;
  std::vector<Part> parts;
  absl::flat_hash_map<size_t, std::vector<int>> parts_of_hash;
  int last_rank = -1;     // that has it
  bool is_twice = false;  // some rank has it twice
};

std::vector<CopyPart> CopyPartsOf(const std::vector<Part>& parts) {
  std::vector<CopyPart> result;
  for (const Part& part : parts) {
    result.push_back({.ranks = part.ranks, .live_name = part.live_name});
    for (const ListedRegion& region : part.memory.regions) {
      result.back().boxes.push_back(region.global);
    }
  }
  return result;
}

// Parts that are alike but for their live names, as one. `merged_into` says
// where each went.
std::vector<Part> Merged(const std::vector<Part>& parts,
                         std::vector<int>& merged_into) {
  std::vector<Part> merged;
  absl::flat_hash_map<size_t, std::vector<int>> alike;
  for (const Part& part : parts) {
    std::vector<int>& places = alike[absl::HashOf(part.memory)];
    auto it = std::find_if(places.begin(), places.end(), [&](int i) {
      return merged[i].memory == part.memory;
    });
    if (it == places.end()) {
      places.push_back(static_cast<int>(merged.size()));
      it = places.end() - 1;
      merged.push_back(part);
    } else {
      std::vector<int>& ranks = merged[*it].ranks;
      const size_t middle = ranks.size();
      ranks.insert(ranks.end(), part.ranks.begin(), part.ranks.end());
      std::inplace_merge(ranks.begin(), ranks.begin() + middle, ranks.end());
    }
    merged_into.push_back(*it);
  }
  return merged;
}

// Where a rank's entry of a tensor went.
struct Entry {
  int rank;
  int index;  // in the rank's list
  int tensor;
  int part;
};

// Checks that tensors of one rank do not overlap in its buffers.
class BufferUse {
 public:
  void Add(const ListedTensor& tensor, size_t index, int64_t elements) {
    const absl::int128 bytes = tensor.spec.item_bytes();
    uses_[tensor.buffer].push_back({tensor.buffer_offset * bytes,
                                    (tensor.buffer_offset + elements) * bytes,
                                    index});
  }

  absl::Status Check(const RankListing& rank) {
    for (auto& [buffer, uses] : uses_) {
      std::sort(uses.begin(), uses.end());
      for (size_t i = 1; i < uses.size(); ++i) {
        const auto& [begin, end, index] = uses[i];
        const auto& [last_begin, last_end, last] = uses[i - 1];
        if (begin >= last_end) continue;
        return absl::InvalidArgumentError(
            absl::StrCat(PlaceOf(rank.rank, index, rank.tensors[index]),
                         ".buffer_offset: ", rank.tensors[index].buffer_offset,
                         " in \"", buffer, "\" lies within tensors[", last,
                         "] (", rank.tensors[last].spec.Id(), "), from ",
                         rank.tensors[last].buffer_offset, " on"));
      }
    }
    return absl::OkStatus();
  }

 private:
  using Use = std::tuple<absl::int128, absl::int128, size_t>;  // in bytes
  std::map<absl::string_view, std::vector<Use>> uses_;  // errors in this order
};

class Maker {
 public:
  explicit Maker(Listing listing)
      : listing_(std::make_shared<const Listing>(std::move(listing))) {}

  absl::StatusOr<ListedLayout> Make() && {
    RETURN_IF_ERROR(GatherAll());
    ASSIGN_OR_RETURN(
        Mesh mesh,
        Mesh::Create({{std::string(kRankAxis), listing_->world_size()}}));
    builder_.AddMesh(std::move(mesh));
    for (Gathered& gathered : gathered_) {
      RETURN_IF_ERROR(Add(gathered), gathered.spec->Id());
    }
    LiveView live = LiveViewOf();
    ASSIGN_OR_RETURN(Layout layout, std::move(builder_).Build());
    return ListedLayout{std::move(layout), std::move(live)};
  }

 private:
  // -------------------------------------------------------------- gathering
  absl::Status GatherAll() {
    for (int rank = 0; rank < listing_->world_size(); ++rank) {
      const RankListing* listed = listing_->Find(rank);
      if (listed == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(
            "rank ", rank, " isn't listed; a layout is of all the world's ",
            listing_->world_size()));
      }
      BufferUse use;
      for (size_t i = 0; i < listed->tensors.size(); ++i) {
        RETURN_IF_ERROR(Gather(listed->tensors[i], rank, i, use));
      }
      RETURN_IF_ERROR(use.Check(*listed));
    }
    return absl::OkStatus();
  }

  absl::Status Gather(const ListedTensor& tensor, int rank, size_t index,
                      BufferUse& use) {
    const int number = NumberOf(tensor.spec);
    ListedMemory memory = {tensor.local_shape, {}, StorageOf(tensor)};
    for (const ListedRegion& region : tensor.regions) {
      if (!region.global.empty()) memory.regions.push_back(region);
    }
    if (memory.regions.empty()) return absl::OkStatus();
    if (!tensor.buffer.empty()) {
      int64_t elements = 1;
      for (int64_t extent : memory.local_shape) elements *= extent;
      use.Add(tensor, index, elements);
    }
    Gathered& gathered = gathered_[number];
    std::vector<int>& alike = gathered.parts_of_hash[absl::HashOf(memory)];
    auto part = std::find_if(alike.begin(), alike.end(), [&](int i) {
      return gathered.parts[i].live_name == tensor.live_name &&
             gathered.parts[i].memory == memory;
    });
    if (part == alike.end()) {
      RETURN_IF_ERROR(ValidateListedMemory(tensor.spec.whole(), memory),
                      PlaceOf(rank, index, tensor));
      alike.push_back(static_cast<int>(gathered.parts.size()));
      part = alike.end() - 1;
      gathered.parts.push_back({std::move(memory), {}, tensor.live_name});
    }
    gathered.parts[*part].ranks.push_back(rank);
    if (std::exchange(gathered.last_rank, rank) == rank) {
      gathered.is_twice = true;
    }
    entries_.push_back({rank, static_cast<int>(index), number, *part});
    return absl::OkStatus();
  }

  int NumberOf(const TensorSpec& spec) {
    const auto [it, is_new] = numbers_.try_emplace(
        {spec.name(), spec.state()}, static_cast<int>(gathered_.size()));
    if (is_new) gathered_.push_back({.spec = &spec});
    return it->second;
  }

  Storage StorageOf(const ListedTensor& tensor) {
    if (tensor.buffer.empty()) return {};
    const auto [it, is_new] = buffers_.try_emplace(tensor.buffer, 0);
    if (is_new) it->second = builder_.AddBuffer(tensor.buffer);
    return {.buffer = it->second, .offset = tensor.buffer_offset};
  }

  // --------------------------------------------------------------- building
  absl::Status Add(Gathered& gathered) {
    const int tensor = builder_.AddTensor(*gathered.spec);
    copy_of_part_.emplace_back(gathered.parts.size());
    if (gathered.spec->whole().empty()) {
      // It has no part, and is everywhere.
      builder_.AddCopy(tensor, {.placement = builder_.AddPlacement({})});
      return absl::OkStatus();
    }
    if (gathered.parts.empty()) {
      return absl::InvalidArgumentError("no rank lists an element of it");
    }
    ASSIGN_OR_RETURN(Choice choice, Choose(gathered));
    std::vector<int> copy_of(choice.parts.size());
    for (size_t copy = 0; copy < choice.copies.size(); ++copy) {
      std::vector<std::vector<int>> ranks;
      ListedCopy memory;
      for (int part : choice.copies[copy]) {
        ranks.push_back(std::move(choice.parts[part].ranks));
        memory.push_back(std::move(choice.parts[part].memory));
        copy_of[part] = static_cast<int>(copy);
      }
      builder_.AddCopy(tensor,
                       {.placement = PlacementOf(std::move(ranks)),
                        .listed = builder_.AddListed(std::move(memory))});
    }
    for (size_t i = 0; i < choice.part_of.size(); ++i) {
      copy_of_part_.back()[i] = copy_of[choice.part_of[i]];
    }
    return absl::OkStatus();
  }

  struct Choice {
    std::vector<Part> parts;
    std::vector<int> part_of;  // of each gathered part
    std::vector<std::vector<int>> copies;
  };

  // Parts that are alike are one if that makes one copy, as nearly always. Of
  // several copies that share a part, names tell whose it is; so they do if a
  // rank has the tensor twice, since a rank has one part of a copy.
  static absl::StatusOr<Choice> Choose(const Gathered& gathered) {
    if (gathered.is_twice) return ByName(gathered);
    Choice merged;
    merged.parts = Merged(gathered.parts, merged.part_of);
    auto copies = CopiesOf(gathered.spec->whole(), CopyPartsOf(merged.parts));
    if (!copies.ok()) return ByName(gathered);
    if (copies->size() > 1) {
      absl::StatusOr<Choice> named = ByName(gathered);
      if (named.ok()) return named;
    }
    merged.copies = *std::move(copies);
    return merged;
  }

  // The parts as gathered: those of different live names are different ones.
  static absl::StatusOr<Choice> ByName(const Gathered& gathered) {
    Choice named = {gathered.parts, std::vector<int>(gathered.parts.size())};
    std::iota(named.part_of.begin(), named.part_of.end(), 0);
    ASSIGN_OR_RETURN(named.copies, CopiesOf(gathered.spec->whole(),
                                            CopyPartsOf(named.parts)));
    return named;
  }

  // Tensors that the same ranks hold in the same order share one.
  int PlacementOf(std::vector<std::vector<int>> ranks) {
    const auto [it, is_new] = placements_.try_emplace(std::move(ranks), 0);
    if (is_new) it->second = builder_.AddPlacement({.listed = it->first});
    return it->second;
  }

  LiveView LiveViewOf() const {
    using Key = std::tuple<int, int, int>;  // rank, tensor, copy
    auto index = std::make_shared<absl::flat_hash_map<Key, int>>();
    for (const Entry& entry : entries_) {
      const int copy = copy_of_part_[entry.tensor][entry.part];
      (*index)[{entry.rank, entry.tensor, copy}] = entry.index;
    }
    return {.name = [listing = listing_, index](int rank, int tensor,
                                                int copy) -> std::string {
              const auto it = index->find({rank, tensor, copy});
              if (it == index->end()) return "";
              return listing->Find(rank)->tensors[it->second].live_name;
            },
            .buffers = [listing = listing_](
                           int rank) { return listing->Find(rank)->buffers; }};
  }

  const std::shared_ptr<const Listing> listing_;
  std::vector<Gathered> gathered_;  // in the order in which they are listed
  std::vector<Entry> entries_;
  // Views of the listing's own strings.
  absl::flat_hash_map<std::pair<absl::string_view, absl::string_view>, int>
      numbers_;
  absl::flat_hash_map<absl::string_view, int> buffers_;
  std::vector<std::vector<int>> copy_of_part_;  // by tensor
  absl::flat_hash_map<std::vector<std::vector<int>>, int> placements_;
  LayoutBuilder builder_;
};

}  // namespace

absl::StatusOr<ListedLayout> MakeListedLayout(Listing listing) {
  return Maker(std::move(listing)).Make();
}

}  // namespace dynatrain::vps
