#include "localmdi/infinite/row_dual.hpp"

#include <stdexcept>

namespace localmdi::infinite {
namespace {

// to[F] += to[F without r] for every r, or -= for the inverse: sums over subsets of rows.
template <class Value, class Combine>
void over_subsets(std::vector<Value>& table, Interrupt& interrupt, Combine combine) {
    for (std::size_t step = 1; step < table.size(); step *= 2) {
        interrupt.check();
        for (std::size_t base = 0; base < table.size(); base += 2 * step)
            for (std::size_t i = base; i < base + step; ++i) combine(table[i + step], table[i]);
    }
}

// Impurity of the rows F together with x, for every set F of other rows.
std::vector<double> impurities(const Sample& sample, const Impurity& impurity, std::size_t x,
                               const std::vector<std::size_t>& others) {
    const std::size_t n_sets = std::size_t{1} << others.size();
    std::vector<double> table(n_sets);
    std::vector<double> slots(sample.n_slots);
    for (std::size_t set = 0; set < n_sets; ++set) {
        std::fill(slots.begin(), slots.end(), 0.0);
        sample.add_row(x, slots.data());
        std::int32_t label = sample.label[x];
        for (std::size_t r = 0; r < others.size(); ++r)
            if (set >> r & 1) {
                sample.add_row(others[r], slots.data());
                if (sample.label[others[r]] != label) label = -1;
            }
        table[set] = label >= 0 ? 0.0 : impurity(slots.data(), slots.size());
    }
    return table;
}

}  // namespace

void row_dual(const Sample& sample, const Impurity& impurity, std::size_t x, double* values,
              Interrupt& interrupt) {
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < sample.n_rows(); ++i)
        if (i != x) others.push_back(i);
    if (others.size() > kMaxDualRows) throw std::invalid_argument("too many distinct rows");
    const std::size_t n_sets = std::size_t{1} << others.size();

    // Features matter only by the rows that they separate from x.
    std::vector<std::size_t> pattern(sample.n_features, 0);
    for (std::size_t r = 0; r < others.size(); ++r)
        for (std::size_t j = 0; j < sample.n_features; ++j)
            if (sample.row(others[r])[j] != sample.row(x)[j]) pattern[j] |= std::size_t{1} << r;
    std::vector<double> within(n_sets, 0.0);  // features that separate no row outside the set
    for (const std::size_t rows : pattern) within[rows] += 1.0;
    const auto plus = [](double& to, double from) { to += from; };
    const auto minus = [](double& to, double from) { to -= from; };
    over_subsets(within, interrupt, plus);

    std::vector<double> share = impurities(sample, impurity, x, others);
    over_subsets(share, interrupt, minus);
    share[0] = 0.0;
    const auto p = static_cast<double>(sample.n_features);
    for (std::size_t set = 1; set < n_sets; ++set)
        share[set] /= p - within[n_sets - 1 - set];  // features that separate some row of the set
    over_subsets(share, interrupt, plus);
    for (std::size_t j = 0; j < sample.n_features; ++j)
        values[j] = share[n_sets - 1] - share[n_sets - 1 - pattern[j]];
}

}  // namespace localmdi::infinite
