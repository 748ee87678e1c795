#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace corun {

/// Which part of an SM bounds a kernel, as far as its name says.
enum class KernelKind : std::uint8_t {
  kUnknown,
  kComputeBound,  ///< matrix products, convolutions, attention
  kMemoryBound,   ///< element by element, normalisation, reductions, transpositions, optimiser steps
};

/// Guesses from the name of a kernel of today's deep-learning libraries. Nothing is measured: a small matrix product is
/// called compute-bound although it may wait for memory. Names that suggest neither are unknown.
inline KernelKind kind_of_kernel(std::string_view name) {
  constexpr std::array kMemory{"elementwise",  "Elementwise", "batch_norm", "BatchNorm", "bn_fw",     "bn_bw",
                               "layer_norm",   "LayerNorm",   "softmax",    "reduce",    "Reduce",    "pool",
                               "ToNhwc",       "ToNchw",      "transpose",  "dropout",   "embedding", "index",
                               "multi_tensor", "nll_loss",    "CatArray",   "copy",      "fill"};
  constexpr std::array kCompute{"gemm",  "Gemm",  "GEMM",      "conv", "Conv",  "xmma",    "wgrad",   "dgrad",
                                "fprop", "nvjet", "attention", "sdpa", "flash", "cutlass", "winograd"};
  const auto is_named = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  // The reduction that ends a split matrix product moves memory, although it is called after the product.
  if (is_named("splitKreduce")) return KernelKind::kMemoryBound;
  if (std::ranges::any_of(kCompute, is_named)) return KernelKind::kComputeBound;
  if (std::ranges::any_of(kMemory, is_named)) return KernelKind::kMemoryBound;
  return KernelKind::kUnknown;
}

}  // namespace corun
