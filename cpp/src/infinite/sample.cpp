#include "localmdi/infinite/sample.hpp"

#include <cmath>

namespace localmdi::infinite {
namespace {

// Eight megabytes: beyond this many rows a table of c·log2(c) no longer fits a cache.
constexpr std::size_t kLargestLog = std::size_t{1} << 20;

WeightedLog log_for(const Sample& sample) {
    if (sample.criterion != Criterion::entropy) return {};
    double total = 0.0;
    for (const double weight : sample.entry_weight) {
        if (weight != std::floor(weight)) return {};
        total += weight;
    }
    return {total, kLargestLog};
}

}  // namespace

Impurity::Impurity(const Sample& sample) : criterion_(sample.criterion), log_(log_for(sample)) {}

}  // namespace localmdi::infinite
