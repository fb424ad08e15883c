#include "localmdi/sample.hpp"

namespace localmdi {

// Beyond this many rows a table of c·log2(c) no longer fits a cache.
constexpr double kLargestTable = 1 << 20;

Impurity::Impurity(const Sample& sample) : criterion_(sample.criterion) {
    if (criterion_ != Criterion::Entropy) return;
    double total = 0.0;
    for (const double weight : sample.entry_weight) {
        if (weight != std::floor(weight)) return;
        total += weight;
    }
    if (total > kLargestTable) return;
    table_.resize(static_cast<std::size_t>(total) + 1, 0.0);
    for (std::size_t c = 1; c < table_.size(); ++c)
        table_[c] = static_cast<double>(c) * std::log2(static_cast<double>(c));
}

}  // namespace localmdi
