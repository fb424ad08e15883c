// Codes of one byte tell the range and the sides of numbers as the numbers themselves do.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "localmdi/grow/rough_columns.hpp"
#include "localmdi/grow/tree_random.hpp"
#include "support/check.hpp"

using namespace localmdi::grow;

namespace {

constexpr std::size_t kRows = 20000;

// What codes could go wrong with: a column for each.
std::vector<float> columns(TreeRandom& random) {
    constexpr float kMost = std::numeric_limits<float>::max();
    std::vector<float> all;
    const auto add = [&](auto number) {
        for (std::size_t i = 0; i < kRows; ++i) all.push_back(static_cast<float>(number(i)));
    };
    add([&](std::size_t) { return random.uniform() - 0.3; });
    add([](std::size_t) { return 3.0; });                                // one number
    add([](std::size_t i) { return i % 2; });                            // two
    add([](std::size_t i) { return i == 7 ? 1 : 0; });                   // almost one
    add([&](std::size_t) { return 1 / random.uniform(); });              // outliers
    add([&](std::size_t) { return (random.uniform() - 0.5) * 2e-45; });  // the least ones
    add([&](std::size_t i) { return i % 3 ? random.uniform() : (i % 2 ? kMost : -kMost); });
    return all;
}

void check_node(const RoughColumns& rough, const TrainingRows& rows, std::size_t feature,
                const std::vector<std::uint32_t>& ids, TreeRandom& random) {
    const float* const x = rows.column(feature);
    std::vector<std::uint8_t> codes(ids.size() + kListSlack);
    const auto [low, high] = rough.load(feature, ids, codes.data());
    const auto [least, most] =
        std::ranges::minmax(ids, {}, [&](std::uint32_t row) { return x[row]; });
    CHECK(low == x[least] && high == x[most]);
    for (int round = 0; round < 3; ++round) {
        const float cut = round == 0 || !(low < high)
                              ? x[ids[random.below(static_cast<std::uint32_t>(ids.size()))]]
                              : random.cut(low, high);
        rough.collect_codes(feature, ids, codes.data());
        const std::uint8_t code = rough.settle(feature, cut, ids, codes.data());
        for (std::size_t i = 0; i < ids.size(); ++i)
            CHECK((codes[i] <= code) == (x[ids[i]] <= cut));
    }
}

}  // namespace

int main() {
    TreeRandom random(3, 1);
    const std::vector<float> numbers = columns(random);
    const std::size_t n_features = numbers.size() / kRows;
    const std::vector<std::uint8_t> none(n_features, 0);
    const std::vector<double> weight(kRows, 1.0);
    const TrainingRows rows{kRows, n_features, numbers, none, none, weight};
    const RoughColumns rough(rows);
    CHECK(rough.has_codes() && rough.serves(5000) && !rough.serves(100));
    const TrainingRows few{100, 1, numbers, none, none, weight};
    CHECK(!RoughColumns(few).has_codes());
    for (std::size_t f = 0; f < n_features; ++f)
        for (const std::uint32_t step : {1u, 3u, 50u, 6000u}) {
            std::vector<std::uint32_t> ids;
            for (std::uint32_t row = random.below(step); row < kRows; row += 1 + random.below(step))
                ids.push_back(row);
            check_node(rough, rows, f, ids, random);
        }
    return 0;
}
