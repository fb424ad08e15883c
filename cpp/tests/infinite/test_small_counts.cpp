// Lattices where counts are small whole numbers: codes that keep sets apart, bytes with and without
// vectors, and the same sums as from counts in halves, which take the general way.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "localmdi/infinite/lattice.hpp"
#include "localmdi/infinite/small_counts.hpp"
#include "support/check.hpp"

using namespace localmdi::infinite;
using namespace localmdi::support;

namespace {

// Rows of whole weights, some of which have two classes; the first features tell about the class.
struct Data {
    std::vector<std::int32_t> codes, slot, label;
    std::vector<std::int64_t> offset{0};
    std::vector<double> weight;
    Sample sample;

    Data(std::size_t n, std::size_t p, std::int32_t n_classes, Criterion criterion, double unit)
        : sample{} {
        std::mt19937 random(7);
        const auto below = [&](std::int32_t end) {
            return static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(end));
        };
        for (std::size_t i = 0; i < n * p; ++i) codes.push_back(below(4) != 0);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int32_t y = (codes[i * p] + codes[i * p + 1] + below(2)) % n_classes;
            const bool mixed = i % 9 == 8;
            label.push_back(mixed ? -1 : y);
            slot.push_back(y);
            weight.push_back(unit * (1 + below(2)));
            if (mixed) {
                slot.push_back((y + 1) % n_classes);
                weight.push_back(unit);
            }
            offset.push_back(static_cast<std::int64_t>(slot.size()));
        }
        sample = {p,    static_cast<std::size_t>(n_classes), criterion, codes, offset, slot, weight,
                  label};
    }
};

void sums_of_codes_are_all_different() {
    std::set<std::size_t> sums;
    std::size_t n = 0;
    std::vector<double> counts;
    SmallSets::for_each_set(SmallSets::kMostRows, SmallSets::kMostRows, counts,
                            [&](std::size_t sum) {
                                sums.insert(sum);
                                ++n;
                            });
    CHECK(n == 683 && sums.size() == n && *sums.rbegin() == SmallSets::kLargestSum);
    // Each is the least: a smaller code for 2 or 3 would meet another sum.
    CHECK(SmallSets::kCode[1] == 1 && SmallSets::kCode[2] == SmallSets::kMostRows + 1);
}

// Bytes against counting each subset by itself.
void bytes_count_rows(std::size_t n) {
    const Data data(n, 12, 5, Criterion::entropy, 1.0);
    const MatchMasks masks(data.sample, 3, true);
    std::vector<std::uint32_t> rows(masks.mask.size());
    std::iota(rows.begin(), rows.end(), 0u);
    ByteCounts vectors(masks), plain(masks, false);
    const double total = std::accumulate(data.weight.begin(), data.weight.end(), 0.0);
    CHECK(vectors.count(rows) == (total <= 255) && plain.count(rows) == (total <= 255));
    if (total > 255) return;
    CHECK(vectors.impure() == plain.impure());
    std::vector<std::int32_t> present, place;
    masks.find_present(rows, present, place);
    for (std::uint32_t group = 0; group < ByteCounts::kGroups; ++group) {
        CHECK(std::memcmp(vectors.codes(group), plain.codes(group), 16) == 0);
        CHECK(vectors.n_rows(group) == plain.n_rows(group));
        std::vector<std::uint16_t> counts(8 * 8), others(8 * 8);
        vectors.copy_counts(group, counts.data(), 8);
        plain.copy_counts(group, others.data(), 8);
        CHECK(counts == others);
        for (std::uint64_t s = 0; s < 8; ++s) {
            const std::uint64_t subset = group * 8 + s;
            std::vector<double> slots(5, 0.0);
            for (const std::uint32_t i : rows)
                if ((masks.mask[i] & subset) == subset) masks.add_row(i, slots.data());
            std::size_t sum = 0, n_rows = 0;
            for (std::size_t c = 0; c < vectors.width(); ++c) {
                const auto slot = static_cast<std::size_t>(present[c]);
                const auto found = static_cast<std::size_t>(slots[slot]);
                CHECK(counts[s * 8 + c] == found);
                sum += SmallSets::kCode[found % 16];
                n_rows += found;
            }
            CHECK(sum == vectors.codes(group)[s]);
            CHECK(s != 0 || n_rows == vectors.n_rows(group));
        }
    }
}

// The copies of x have one class (row 0) or two (row 8).
void same_sums_as_from_halves(std::size_t n, std::size_t p, std::int32_t n_classes,
                              Criterion criterion) {
    const Data whole(n, p, n_classes, criterion, 1.0), halves(n, p, n_classes, criterion, 0.5);
    Interrupt interrupt;
    for (const std::size_t row : {0, 8}) {
        const LatticeQuestion question{row, false, true};
        const LatticeSums found =
            solve_lattice(whole.sample, Impurity(whole.sample), question, 1, interrupt).sums;
        const LatticeSums threads =
            solve_lattice(whole.sample, Impurity(whole.sample), question, 3, interrupt).sums;
        const LatticeSums no_pairs =
            solve_lattice(whole.sample, Impurity(whole.sample), {row}, 1, interrupt).sums;
        const LatticeSums expected =
            solve_lattice(halves.sample, Impurity(halves.sample), question, 1, interrupt).sums;
        CHECK(found.all == threads.all && found.member == threads.member);
        CHECK(found.pair == threads.pair);
        CHECK(found.all == no_pairs.all && found.member == no_pairs.member);
        const auto near = [](const std::vector<double>& a, const std::vector<double>& b) {
            for (std::size_t i = 0; i < a.size(); ++i)
                CHECK(std::abs(a[i] - b[i]) <= 1e-11 * (1 + std::abs(b[i])));
        };
        near(found.all, expected.all);
        near(found.member, expected.member);
        near(found.pair, expected.pair);
    }
}

}  // namespace

int main() {
    sums_of_codes_are_all_different();
    for (const std::size_t n : {9, 40, 150, 400}) bytes_count_rows(n);
    for (const Criterion criterion : {Criterion::entropy, Criterion::gini})
        for (const std::int32_t n_classes : {2, 7, 11}) {
            same_sums_as_from_halves(60, 13, n_classes, criterion);
            same_sums_as_from_halves(700, 14, n_classes, criterion);
        }
    same_sums_as_from_halves(300, 18, 4, Criterion::entropy);
    return 0;
}
