// A categorical sample as the kernels of the infinite forest see it: distinct rows, and what is
// known about the output in each, as numbers that add up over rows.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace localmdi {

enum class Criterion : std::uint8_t { Entropy, Gini, Variance };

// Row i adds entry_weight[e] to slot entry_slot[e] for e in entry_offset[i] .. entry_offset[i + 1].
// Slots are classes, or for the variance the weight, the sum of y and the sum of y².
struct Sample {
    std::size_t n_features;
    std::size_t n_slots;
    Criterion criterion;
    std::span<const std::int32_t> codes;  // row-major
    std::span<const std::int64_t> entry_offset;
    std::span<const std::int32_t> entry_slot;
    std::span<const double> entry_weight;
    std::span<const std::int32_t> label;  // the one output value of a row, -1 if it has several

    std::size_t n_rows() const { return label.size(); }
    std::span<const std::int32_t> row(std::size_t i) const {
        return codes.subspan(i * n_features, n_features);
    }
    void add_row(std::size_t i, double* slots) const {
        for (auto e = static_cast<std::size_t>(entry_offset[i]);
             e < static_cast<std::size_t>(entry_offset[i + 1]); ++e)
            slots[entry_slot[e]] += entry_weight[e];
    }
};

// The impurity of a set of rows from the sums of their slots. Whole counts take c·log2(c) from a
// table.
class Impurity {
public:
    explicit Impurity(const Sample& sample);

    double operator()(const double* slots, std::size_t n_slots) const {
        double total = slots[0];
        switch (criterion_) {
            case Criterion::Variance: {
                const double mean = slots[1] / total;
                return std::fmax(0.0, slots[2] / total - mean * mean);
            }
            case Criterion::Gini: {
                for (std::size_t c = 1; c < n_slots; ++c) total += slots[c];
                double sum = 0.0;
                for (std::size_t c = 0; c < n_slots; ++c) sum += slots[c] * (total - slots[c]);
                return sum / (total * total);
            }
            default: {
                double sum = information(slots[0]);
                for (std::size_t c = 1; c < n_slots; ++c) {
                    sum += information(slots[c]);
                    total += slots[c];
                }
                return (information(total) - sum) / total;
            }
        }
    }

private:
    double information(double c) const {
        if (!table_.empty()) return table_[static_cast<std::size_t>(c)];
        return c > 0.0 ? c * std::log2(c) : 0.0;
    }

    Criterion criterion_;
    std::vector<double> table_;
};

}  // namespace localmdi
