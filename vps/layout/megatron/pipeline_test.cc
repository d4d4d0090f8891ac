#include "vps/layout/megatron/pipeline.h"

#include <cstdint>
#include <optional>
#include <ostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check_shrunk.h"
#include "base/random_seed.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dynatrain::vps::megatron {
namespace {

using ::testing::HasSubstr;

// "(0,2)(2,2) | (4,2)(6,2)": (first layer, layers) by stage, chunk by chunk.
std::string Text(const Pipeline& pipeline) {
  std::ostringstream out;
  for (int chunk = 0; chunk < pipeline.vpp(); ++chunk) {
    if (chunk > 0) out << " | ";
    for (int stage = 0; stage < pipeline.pp(); ++stage) {
      out << pipeline.chunk(stage, chunk);
    }
  }
  return out.str();
}

std::string Text(const Pipeline::Options& options) {
  const auto pipeline = Pipeline::Create(options);
  return pipeline.ok() ? Text(*pipeline)
                       : std::string(pipeline.status().message());
}

// MEGATRON_LAYOUT 6.4.
TEST(Pipeline, DealsLayersOutAsMegatronDoes) {
  EXPECT_EQ(Text({.layers = 16, .pp = 4, .vpp = 2}),
            "(0,2)(2,2)(4,2)(6,2) | (8,2)(10,2)(12,2)(14,2)");
  EXPECT_EQ(Text({.layers = 94,
                  .pp = 4,
                  .first_stage_layers = 23,
                  .last_stage_layers = 23}),
            "(0,23)(23,24)(47,24)(71,23)");
  EXPECT_EQ(Text({.layers = 94,
                  .pp = 8,
                  .first_stage_layers = 11,
                  .last_stage_layers = 11}),
            "(0,11)(11,12)(23,12)(35,12)(47,12)(59,12)(71,12)(83,11)");
  EXPECT_EQ(Text({.layers = 94, .pp = 8, .first_stage_layers = 10}),
            "(0,10)(10,12)(22,12)(34,12)(46,12)(58,12)(70,12)(82,12)");
  EXPECT_EQ(Text({.layers = 94,
                  .pp = 16,
                  .first_stage_layers = 5,
                  .last_stage_layers = 5}),
            "(0,5)(5,6)(11,6)(17,6)(23,6)(29,6)(35,6)(41,6)(47,6)(53,6)(59,6)"
            "(65,6)(71,6)(77,6)(83,6)(89,5)");
  EXPECT_EQ(Text({.layers = 30,
                  .pp = 4,
                  .account_for_embedding = true,
                  .account_for_loss = true}),
            "(0,7)(7,8)(15,8)(23,7)");
  EXPECT_EQ(Text({.layers = 14,
                  .pp = 4,
                  .vpp = 2,
                  .account_for_embedding = true,
                  .account_for_loss = true}),
            "(0,1)(1,2)(3,2)(5,2) | (7,2)(9,2)(11,2)(13,1)");
  EXPECT_EQ(Text({.layers = 20,
                  .pp = 4,
                  .vpp = 2,
                  .first_stage_layers = 4,
                  .last_stage_layers = 4}),
            "(0,2)(2,3)(5,3)(8,2) | (10,2)(12,3)(15,3)(18,2)");
  EXPECT_EQ(Text({.layers = 22,
                  .pp = 4,
                  .vpp = 2,
                  .first_stage_layers = 4,
                  .last_stage_layers = 2}),
            "(0,2)(2,4)(6,4)(10,1) | (11,2)(13,4)(17,4)(21,1)");
  EXPECT_EQ(Text({.layers = 61, .pp = 16, .last_stage_layers = 1}),
            "(0,4)(4,4)(8,4)(12,4)(16,4)(20,4)(24,4)(28,4)(32,4)(36,4)(40,4)"
            "(44,4)(48,4)(52,4)(56,4)(60,1)");
}

TEST(Pipeline, FollowsCustomLayouts) {
  const Pipeline deepseek = *Pipeline::Create(
      {.layers = 61, .pp = 16, .layout = "Et*3|(tt|)*29,m|L", .mtp_layers = 1});
  EXPECT_EQ(deepseek.vpp(), 2);
  EXPECT_EQ(deepseek.chunk(0, 0), (ModelChunk{0, 3, 0}));
  EXPECT_EQ(deepseek.chunk(1, 0), (ModelChunk{3, 2, 0}));
  EXPECT_EQ(deepseek.chunk(15, 0), (ModelChunk{31, 2, 0}));
  EXPECT_EQ(deepseek.chunk(0, 1), (ModelChunk{33, 2, 0}));
  EXPECT_EQ(deepseek.chunk(13, 1), (ModelChunk{59, 2, 0}));
  EXPECT_EQ(deepseek.chunk(14, 1), (ModelChunk{61, 0, 1}));
  EXPECT_EQ(deepseek.chunk(15, 1), (ModelChunk{61, 0, 0}));
  EXPECT_EQ(Text({.layers = 14, .pp = 4, .layout = "Et|(tt|)*6,tL"}),
            "(0,1)(1,2)(3,2)(5,2) | (7,2)(9,2)(11,2)(13,1)");
  // Stages may be empty; Megatron builds the embedding on the first anyway.
  EXPECT_EQ(Text({.layers = 2, .pp = 4, .layout = "|Ett||L"}),
            "(0,0)(0,2)(2,0)(2,0)");
  EXPECT_EQ(Text({.layers = 2, .pp = 1, .layout = "Et*2mL", .mtp_layers = 1}),
            "(0,2)+1m");
}

TEST(Pipeline, PutsMtpLayersLastUnlessALayoutSaysOtherwise) {
  const Pipeline pipeline =
      *Pipeline::Create({.layers = 4, .pp = 2, .vpp = 2, .mtp_layers = 1});
  EXPECT_EQ(Text(pipeline), "(0,1)(1,1) | (2,1)(3,1)+1m");
}

TEST(Pipeline, FinalNormFollowsTheLastLayerIfThereIsMtp) {
  const Pipeline::Options options = {
      .layers = 3, .pp = 4, .account_for_loss = true};
  Pipeline::Options mtp = options;
  mtp.mtp_layers = 1;
  EXPECT_TRUE(Pipeline::Create(options)->HasFinalNorm(3, 0));
  EXPECT_FALSE(Pipeline::Create(mtp)->HasFinalNorm(3, 0));
  EXPECT_TRUE(Pipeline::Create(mtp)->HasFinalNorm(2, 0));
  EXPECT_FALSE(Pipeline::Create(mtp)->HasFinalNorm(1, 0));
}

struct Refused {
  Pipeline::Options options;
  std::string why;
};

TEST(Pipeline, RefusesWhatMegatronRefusesAndSaysWhatWouldDo) {
  const Refused table[] = {
      {{.layers = 30, .pp = 4},
       "layers 30 is not divisible by pp 4; the nearest that "
       "are: 28 and 32"},
      {{.layers = 2, .pp = 4}, "the nearest that is: 4"},
      {{.layers = 24, .pp = 4, .vpp = 4},
       "per stage, 6 is not divisible by vpp 4; the nearest that are: 4 and 8"},
      {{.layers = 24, .pp = 1, .vpp = 4}, "vpp is 4 at pp 1"},
      {{.layers = 0}, "layers is 0; it lies in 1..65536"},
      {{.layers = 4, .pp = 0}, "pp is 0"},
      {{.layers = 4, .pp = 4, .vpp = 1 << 20}, "vpp is 1048576"},
      {{.layers = 4, .mtp_layers = -1}, "mtp_layers is -1"},
      {{.layers = 32, .pp = 4, .account_for_embedding = true},
       "layers + the embedding 33 is not divisible by pp 4"},
      {{.layers = 14,
        .pp = 4,
        .vpp = 3,
        .account_for_embedding = true,
        .account_for_loss = true},
       "layers + the embedding + the loss, per stage, 4 is not divisible by "
       "vpp 3"},
      {{.layers = 8,
        .pp = 4,
        .first_stage_layers = 2,
        .account_for_embedding = true},
       "can't be set at the same time"},
      {{.layers = 8, .pp = 4, .first_stage_layers = 0},
       "first_stage_layers is 0; it lies in 1..8"},
      {{.layers = 8, .pp = 4, .vpp = 2, .first_stage_layers = 3},
       "first_stage_layers 3 is not divisible by vpp 2"},
      {{.layers = 8, .pp = 4, .vpp = 2, .last_stage_layers = 3},
       "last_stage_layers 3 is not divisible by vpp 2"},
      {{.layers = 8, .pp = 4, .first_stage_layers = 3},
       "layers in the middle 5 is not divisible by the stages "
       "in the middle, 3"},
      {{.layers = 15, .pp = 4, .vpp = 2, .first_stage_layers = 6},
       "layers of a middle stage 3 is not divisible by vpp 2"},
      {{.layers = 8, .pp = 2, .first_stage_layers = 3, .last_stage_layers = 3},
       "leave 2 of 8 layers for 0 stages in the middle"},
      {{.layers = 8, .pp = 3, .first_stage_layers = 4, .last_stage_layers = 4},
       "leave 0 of 8 layers for 1 stages"},
      {{.layers = 8, .pp = 4, .first_stage_layers = 6, .last_stage_layers = 6},
       "leave -4 of 8 layers"},
      {{.layers = 8, .pp = 1, .first_stage_layers = 4, .last_stage_layers = 4},
       "pp 1 has only one stage"},
      {{.layers = 8,
        .pp = 2,
        .vpp = 2,
        .first_stage_layers = 4,
        .last_stage_layers = 4},
       "both set at pp 2 with vpp 2"},
      {{.layers = 2, .pp = 2, .first_stage_layers = 1, .layout = "Et|tL"},
       "pipeline_layout can't be set with first_stage_layers"},
      {{.layers = 2, .pp = 2, .vpp = 2, .layout = "Et|tL"},
       "vpp is 2, but pipeline_layout has 2 stages, which is vpp 1"},
      {{.layers = 2, .pp = 1, .layout = "Et|tL"},
       "pipeline_layout has 2 stages at pp 1"},
      {{.layers = 2, .pp = 3, .layout = "Et|tL"},
       "it has 2 stages, which pp = 3 does not divide; the nearest numbers "
       "that "
       "it does: 3"},
  };
  for (const Refused& row : table) {
    const auto pipeline = Pipeline::Create(row.options);
    EXPECT_EQ(pipeline.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(pipeline.status().message()), HasSubstr(row.why));
  }
}

// get_num_layers_to_build and get_transformer_layer_offset, as written.
ModelChunk Formula(const Pipeline::Options& o, int64_t p, int64_t v) {
  const int64_t emb = o.account_for_embedding, loss = o.account_for_loss;
  const bool uneven = o.first_stage_layers || o.last_stage_layers;
  int64_t per_rank = (o.layers + emb + loss) / o.pp;
  int64_t offset = 0;
  if (uneven) {
    const int64_t first = o.first_stage_layers.value_or(0);
    const int64_t last = o.last_stage_layers.value_or(0);
    const int64_t stages = o.pp - o.first_stage_layers.has_value() -
                           o.last_stage_layers.has_value();
    const int64_t middle = o.layers - first - last;
    per_rank = stages > 0 ? middle / stages : 0;
    const int64_t q = o.first_stage_layers ? p - 1 : p;
    if (o.vpp > 1) {
      const int64_t total = first / o.vpp + middle / o.vpp + last / o.vpp;
      offset = v * total;
      if (p > 0) {
        offset += first / o.vpp;
        if (stages > 0) offset += q * (middle / o.vpp / stages);
      }
    } else {
      offset = p == 0 ? 0 : q * per_rank + first;
    }
    if (p == 0 && o.first_stage_layers) per_rank = first;
    if (p == o.pp - 1 && o.last_stage_layers) per_rank = last;
  } else {
    offset = v * ((o.layers + emb + loss) / o.vpp) + p * (per_rank / o.vpp);
    if (!(v == 0 && p == 0)) offset -= emb;
  }
  int64_t layers = per_rank / o.vpp;
  if (v == 0 && p == 0) layers -= emb;
  if (v == o.vpp - 1 && p == o.pp - 1) layers -= loss;
  return {static_cast<int>(offset), static_cast<int>(layers)};
}

struct StagesCase {
  Pipeline::Options options;

  friend std::ostream& operator<<(std::ostream& out, const StagesCase& it) {
    const Pipeline::Options& o = it.options;
    return out << "layers " << o.layers << " pp " << o.pp << " vpp " << o.vpp
               << " first " << o.first_stage_layers.value_or(-1) << " last "
               << o.last_stage_layers.value_or(-1) << " embedding "
               << o.account_for_embedding << " loss " << o.account_for_loss;
  }
};

StagesCase RandomStages(std::mt19937_64& random) {
  Pipeline::Options options = {
      .layers = static_cast<int64_t>(random() % 60 + 1),
      .pp = static_cast<int64_t>(random() % 8 + 1),
      .vpp = static_cast<int64_t>(random() % 4 + 1)};
  if (random() % 2 == 0) {
    options.account_for_embedding = random() % 2 == 0;
    options.account_for_loss = random() % 2 == 0;
  } else {
    if (random() % 2 == 0) options.first_stage_layers = random() % 12 + 1;
    if (random() % 2 == 0) options.last_stage_layers = random() % 12 + 1;
  }
  return {options};
}

// A number of layers goes with few others: with each that is simpler, all
// numbers that are not larger come.
std::vector<StagesCase> SmallerStages(const StagesCase& it) {
  std::vector<StagesCase> simpler;
  if (it.options.pp > 1) --simpler.emplace_back(it).options.pp;
  if (it.options.vpp > 1) --simpler.emplace_back(it).options.vpp;
  if (it.options.account_for_embedding) {
    simpler.emplace_back(it).options.account_for_embedding = false;
  }
  if (it.options.account_for_loss) {
    simpler.emplace_back(it).options.account_for_loss = false;
  }
  if (it.options.first_stage_layers.has_value()) {
    simpler.emplace_back(it).options.first_stage_layers.reset();
  }
  if (it.options.last_stage_layers.has_value()) {
    simpler.emplace_back(it).options.last_stage_layers.reset();
  }
  std::vector<StagesCase> smaller;
  for (int64_t layers = 1; layers <= it.options.layers; ++layers) {
    for (const StagesCase& one : simpler) {
      smaller.emplace_back(one).options.layers = layers;
    }
    if (layers == it.options.layers) continue;
    smaller.emplace_back(it).options.layers = layers;
  }
  return smaller;
}

// Of options that are taken.
void ExpectFormulas(const StagesCase& it) {
  const auto pipeline = Pipeline::Create(it.options);
  if (!pipeline.ok()) return;
  int next = 0;
  for (int chunk = 0; chunk < pipeline->vpp(); ++chunk) {
    for (int stage = 0; stage < pipeline->pp(); ++stage) {
      const ModelChunk& here = pipeline->chunk(stage, chunk);
      EXPECT_EQ(here, Formula(it.options, stage, chunk));
      EXPECT_EQ(here.first_layer, next);
      EXPECT_GE(here.layers, 0);
      next += here.layers;
    }
  }
  EXPECT_EQ(next, it.options.layers);
}

TEST(Pipeline, HoldsEachLayerOnceWhereTheFormulasPutIt) {
  auto random = TestRandom();
  int accepted = 0;
  for (int i = 0; i < 40000; ++i) {
    const StagesCase drawn = RandomStages(random);
    CheckShrunk(drawn, SmallerStages, ExpectFormulas);
    if (HasFailure()) return;
    accepted += Pipeline::Create(drawn.options).ok();
  }
  EXPECT_GT(accepted, 1000);
}

}  // namespace
}  // namespace dynatrain::vps::megatron
