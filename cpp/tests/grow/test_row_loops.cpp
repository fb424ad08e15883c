// The loops over the rows of a node: the vector forms do what the plain ones do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "localmdi/grow/class_runs.hpp"
#include "localmdi/grow/row_loops.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::grow;
using namespace localmdi::support;

namespace {

void test_runs() {
    const std::vector<std::uint32_t> label = {2, 0, 1, 2, 0};
    CHECK(rows_by_class(label) == std::vector<std::uint32_t>({1, 4, 2, 0, 3}));
    TreeRandom random(5, 0);
    for (int round = 0; round < 200; ++round) {
        // Empty runs, runs over several words, and ends at the end of a word.
        std::vector<double> sizes(6), expected(6), ones(6), same(6);
        for (auto& size : sizes) size = 32 * random.below(4) + (round % 2 ? random.below(50) : 0);
        std::vector<std::uint64_t> bits(20);
        std::size_t bit = 0;
        for (std::size_t c = 0; c < sizes.size(); ++c)
            for (double k = 0; k < sizes[c]; ++k, ++bit)
                if (random.below(2)) {
                    bits[bit / 64] |= std::uint64_t{1} << bit % 64;
                    ++expected[c];
                }
        bits.resize(bit / 64 + 1);
        bits.back() |= bit % 64 ? ~std::uint64_t{0} << bit % 64 : 0;  // no run has these
        count_ones(bits.data(), sizes, ones.data());
        CHECK(ones == expected);
#ifdef LOCALMDI_AVX2
        if (!has_avx2()) continue;
        count_ones_popcnt(bits.data(), sizes, same.data());
        CHECK(same == expected);
#endif
    }
}

#ifdef LOCALMDI_AVX2
void check_loops(std::uint32_t n, TreeRandom& random) {
    constexpr std::uint32_t kRows = 100;
    std::vector<float> x(3 * kRows), values(n + kListSlack), same_values(n + kListSlack);
    for (auto& value : x) value = static_cast<float>(random.below(256));
    std::vector<std::uint32_t> ids(n + kListSlack), others(n + kListSlack);
    for (auto& id : ids) id = random.below(kRows);
    const Entries entries{x.data() + 1, 3};
    const auto range = collect(entries, ids.data(), n, values.data());
    const auto same = collect_avx2(entries, ids.data(), n, same_values.data());
    CHECK(range.low == same.low && range.high == same.high);
    CHECK(std::equal(values.begin(), values.begin() + n, same_values.begin()));
    auto same_ids = ids;
    const auto cut = static_cast<float>(random.below(256));
    const float* const v = values.data();
    const auto goes = [=](std::uint32_t i) { return v[i] <= cut; };
    const auto goes8 = [=](std::uint32_t i) __attribute__((target("avx2"), always_inline)) {
        return at_most8(v + i, cut);
    };
    const auto kept = order(goes, ids.data(), n, others.data());
    CHECK(order_avx2(goes8, same_ids.data(), n, others.data()) == kept);
    CHECK(ids == same_ids);  // also those after the n, which belong to other nodes
}

// Vectors of exactly the promised size, so that the sanitizer sees a step beyond the slack.
void check_marks(std::uint32_t n, TreeRandom& random) {
    std::vector<float> values(n + 7);
    for (auto& value : values)
        value = random.below(5) == 0 ? NAN : static_cast<float>(random.uniform());
    std::vector<std::uint64_t> bits(n / 64 + 2), same(n / 64 + 2);
    for (const bool missing_first : {false, true}) {
        const Question<float> question{0.4f, missing_first};
        mark_first(question, values.data(), n, bits.data());
        mark_first_avx2(question, values.data(), n, same.data());
        for (std::uint32_t i = 0; i < n; ++i)
            CHECK((bits[i / 64] >> i % 64 & 1) == (same[i / 64] >> i % 64 & 1));
    }
}

// One class or sixteen, and more rows than a byte can count, all of one class among them.
void check_counts(std::uint32_t n_rows, std::uint32_t n_classes, TreeRandom& random) {
    std::vector<std::uint32_t> label(n_rows), ids(n_rows);
    for (auto& c : label) c = random.below(n_classes);
    for (auto& id : ids) id = random.below(n_rows);
    if (n_classes % 3 == 0) std::ranges::fill(label, n_classes - 1);
    const std::size_t n_counts = (n_classes + 3) / 4 * 4;
    std::vector<std::uint32_t> few(n_counts, 0), rest(n_counts, 5000), expected_few = few,
                                                                       expected_rest = rest;
    for (const std::uint32_t id : ids) {
        ++expected_few[label[id]];
        --expected_rest[label[id]];
    }
    move_counts_avx2(label.data(), ids, n_counts, few.data(), rest.data());
    CHECK(few == expected_few && rest == expected_rest);
}

void test_vectors() {
    if (!has_avx2()) return;
    TreeRandom random(3, 0);
    for (std::uint32_t n = 1; n < 70; ++n) {
        check_loops(n, random);
        check_marks(3 * n, random);
        std::vector<double> sums(3 * n, 0.1), expected = sums, values(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            values[i] = random.uniform();
            expected[i] += values[i];
            expected[2 * n + i] += values[i];
        }
        add_rows_avx2(sums.data(), values, std::vector<std::uint32_t>{2, 0});
        CHECK(sums == expected);
        for (std::uint32_t i = 0; i < n; ++i) expected[i] += values[i];
        add_all_avx2(sums.data(), values);
        CHECK(sums == expected);
    }
    for (const std::uint32_t n_rows : {1u, 2u, 254u, 255u, 256u, 510u, 1000u})
        for (std::uint32_t n_classes = 1; n_classes <= kMostCounted; ++n_classes)
            check_counts(n_rows, n_classes, random);
}
#else
void test_vectors() {}
#endif

}  // namespace

int main() {
    test_runs();
    test_vectors();
    return 0;
}
