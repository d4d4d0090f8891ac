#include "api/cluster_file/cluster_file.h"

#include <cmath>

#include "api/json/reader.h"
#include "api/layout_file/yaml.h"
#include "base/status_macros.h"

namespace dynatrain::api {
namespace {

using transition::ClusterFigures;
using transition::ClusterModel;
using transition::Execution;
using transition::PauseFigures;

constexpr int64_t kGigabyte = 1'000'000'000;
constexpr int64_t kMicrosecondNs = 1'000;
constexpr int64_t kMillisecondNs = 1'000'000;
constexpr double kMaxSpeed = 1e6;  // GB/s
constexpr double kMinSpeed = 1e-3;

// A number of `unit`s as a whole number of what the unit is made of.
int64_t Scaled(ObjectReader& reader, absl::string_view key, int64_t unit,
               double min, double max, int64_t otherwise) {
  const double value =
      reader.Number(key, min, max, static_cast<double>(otherwise) / unit);
  return std::llround(value * static_cast<double>(unit));
}

int64_t Speed(ObjectReader& reader, absl::string_view key, int64_t otherwise) {
  return Scaled(reader, key, kGigabyte, kMinSpeed, kMaxSpeed, otherwise);
}

int64_t Microseconds(ObjectReader& reader, absl::string_view key, double max,
                     int64_t otherwise) {
  return Scaled(reader, key, kMicrosecondNs, 0, max, otherwise);
}

ClusterFigures ReadFigures(ObjectReader& reader) {
  const ClusterFigures defaults;
  const auto integer = [&](absl::string_view key, int max) {
    return static_cast<int>(reader.Int(key, 1, max, 1));
  };
  constexpr double kSecond = 1e6, kMillisecond = 1e3;  // in microseconds
  return {
      .num_nodes = integer("nodes", 1 << 16),
      .ranks_per_node = integer("ranks_per_node", 1 << 10),
      .nics_per_node = integer("nics_per_node", 1 << 10),
      .inside_bytes_per_second = Speed(reader, "inside_gb_per_s", kGigabyte),
      .nic_bytes_per_second = Speed(reader, "nic_gb_per_s", kGigabyte),
      .inside_latency_ns = Microseconds(reader, "inside_latency_us", kSecond,
                                        defaults.inside_latency_ns),
      .nic_latency_ns = Microseconds(reader, "nic_latency_us", kSecond,
                                     defaults.nic_latency_ns),
      .message_ns =
          Microseconds(reader, "message_us", kMillisecond, defaults.message_ns),
      .group_ns = Microseconds(reader, "group_us", kSecond, defaults.group_ns),
      .max_group_operations = static_cast<int>(
          reader.Int("max_group_operations", 2, transition::kMaxGroupOperations,
                     defaults.max_group_operations))};
}

PauseFigures ReadPause(ObjectReader& reader) {
  const PauseFigures defaults;
  constexpr double kHour = 3.6e6;  // in milliseconds
  reader.AllowOnly(
      {"drain_ms", "copy_gb_per_s", "verify_gb_per_s", "commit_ms"});
  const auto milliseconds = [&](absl::string_view key, int64_t otherwise) {
    return Scaled(reader, key, kMillisecondNs, 0, kHour, otherwise);
  };
  return {.drain_ns = milliseconds("drain_ms", defaults.drain_ns),
          .copy_bytes_per_second =
              Speed(reader, "copy_gb_per_s", defaults.copy_bytes_per_second),
          .verify_bytes_per_second = Speed(reader, "verify_gb_per_s",
                                           defaults.verify_bytes_per_second),
          .commit_ns = milliseconds("commit_ms", defaults.commit_ns)};
}

absl::StatusOr<ClusterFile> ReadCluster(const nlohmann::json& json) {
  ObjectReader root(json, "");
  root.Require({"nodes", "ranks_per_node", "nics_per_node", "inside_gb_per_s",
                "nic_gb_per_s"});
  root.AllowOnly({"nodes", "ranks_per_node", "nics_per_node", "inside_gb_per_s",
                  "nic_gb_per_s", "inside_latency_us", "nic_latency_us",
                  "message_us", "group_us", "max_group_operations", "execution",
                  "memory_gib", "pause"});
  const ClusterFigures figures = ReadFigures(root);
  const Execution execution =
      root.Choice("execution", {"grouped", "ordered"}) == 1
          ? Execution::kOrdered
          : Execution::kGrouped;
  const int64_t memory =
      Scaled(root, "memory_gib", int64_t{1} << 30, 0.001, 1e6, 0);
  ObjectReader pause_reader = root.Object("pause");
  const PauseFigures pause = ReadPause(pause_reader);
  root.Merge(pause_reader.status());
  RETURN_IF_ERROR(root.status());
  ASSIGN_OR_RETURN(const ClusterModel model, ClusterModel::Create(figures));
  return ClusterFile{model, pause, execution, memory};
}

}  // namespace

absl::StatusOr<ClusterFile> LoadCluster(absl::string_view text) {
  ASSIGN_OR_RETURN(const YamlText yaml, YamlText::Parse(text));
  absl::StatusOr<ClusterFile> cluster = ReadCluster(yaml.root());
  RETURN_IF_ERROR(yaml.AtLine(cluster.status()));
  return cluster;
}

}  // namespace dynatrain::api
