// The `parallelism` and `megatron` sections of a layout file: what a Megatron
// job's command line says of its layout. Fields of `megatron` have Megatron's
// own names:
//
//   order                     "tp-cp-ep-dp-pp"; or "tp-cp-ep-pp-dp"
//   first_stage_layers        num_layers_in_first_pipeline_stage
//   last_stage_layers         num_layers_in_last_pipeline_stage
//   account_for_embedding     account_for_embedding_in_pipeline_split
//   account_for_loss          account_for_loss_in_pipeline_split
//   pipeline_layout           pipeline_model_parallel_layout, "Et*3|(tt|)*29,L"
//   spec                      transformer_engine (the default), local
//   moe_grouped_gemm          false
//   make_vocab_size_divisible_by               128
//   distributed_optimizer                      true
//   optimizer_instances                        num_distributed_..., 1
//   overlap_grad_reduce                        false
//   bucket_size                                elements
//   pad_buckets_for_high_nccl_busbw            false
//   overlap_param_gather_with_optimizer_step   false
//   precision_aware_optimizer                  false
#ifndef API_LAYOUT_FILE_MEGATRON_SECTION_H_
#define API_LAYOUT_FILE_MEGATRON_SECTION_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "api/json/reader.h"
#include "vps/layout/megatron/megatron_config.h"

namespace dynatrain::api {

// `parallelism` has tp, cp, pp, ep, etp, vpp and no other field; what is not
// given is 1, and etp is as tp. `version` is Megatron-Core's, "" for the
// default. Returns kInvalidArgument naming the field by its path, its value and
// what would do.
absl::StatusOr<vps::megatron::MegatronConfig> ReadMegatronSection(
    int64_t world, const std::string& version, ObjectReader parallelism,
    ObjectReader megatron);

}  // namespace dynatrain::api

#endif  // API_LAYOUT_FILE_MEGATRON_SECTION_H_
