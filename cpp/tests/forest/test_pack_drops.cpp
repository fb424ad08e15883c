#include "localmdi/forest/pack_drops.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

#include "forest/binary_records.hpp"
#include "localmdi/forest/inclusive_threshold.hpp"
#include "localmdi/forest/validate.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::testing;
using localmdi::support::Interrupt;

namespace {

constexpr std::int64_t kFeatures = 5;

std::optional<PackedForest<float>> straight(const std::vector<BinaryTree>& trees,
                                            const std::vector<double>& weight,
                                            std::size_t n_threads = 1) {
    Interrupt interrupt;
    return pack_drops({trees, weight, kFeatures}, n_threads, interrupt);
}

// The same through the table; nothing if it refuses them.
std::optional<PackedForest<float>> through_table(const std::vector<BinaryTree>& trees,
                                                 const std::vector<double>& weight) {
    std::vector<std::int64_t> tree_offset{0};
    for (const BinaryTree& tree : trees)
        tree_offset.push_back(tree_offset.back() + static_cast<std::int64_t>(tree.n_nodes));
    const auto n = static_cast<std::size_t>(tree_offset.back());
    ColumnTable table(n, trees.size());
    NodeWriter writer(table.columns());
    try {
        for (const BinaryTree& tree : trees) writer.append(tree);
    } catch (const std::invalid_argument&) {
        return std::nullopt;
    }
    const std::vector<std::int64_t> category_offset(n + 1, 0);
    const ForestView view{.n_features = kFeatures,
                          .tree_offset = tree_offset,
                          .feature = table.feature,
                          .split_kind = table.split_kind,
                          .threshold = table.threshold,
                          .child_offset = table.child_offset,
                          .child = table.child,
                          .missing_child = table.missing_child,
                          .category_offset = category_offset,
                          .category_bits = {}};
    if (validate(view)) return std::nullopt;
    std::vector<double> amount(n);
    edge_drops(view, table.impurity, amount.data());
    return pack<float>(view, {amount, table.impurity}, weight);
}

bool are_equal(const PackedForest<float>& one, const PackedForest<float>& other) {
    const std::size_t n = one.splits.size();
    const auto same_tree = [](const PackedTree& a, const PackedTree& b) {
        return a.split == b.split && a.leaf == b.leaf && a.root == b.root;
    };
    return n == other.splits.size() && one.n_features == other.n_features &&
           one.max_depth == other.max_depth && one.tree_weight == other.tree_weight &&
           std::ranges::equal(one.trees, other.trees, same_tree) && one.left == other.left &&
           (n == 0 ||
            std::memcmp(one.splits.data(), other.splits.data(), n * sizeof one.splits[0]) == 0);
}

void equals_the_packed_table() {
    std::mt19937_64 random(1);
    std::vector<std::vector<Record>> records;
    std::vector<double> weight;
    for (std::size_t t = 0; t < 12; ++t) {
        records.push_back(random_tree(random, t * t, kFeatures));
        weight.push_back(t % 3 ? 1.0 / static_cast<double>(t) : 0.0);
    }
    const std::array<std::int64_t, kFeatures> column{4, 2, 0, 1, 3};
    std::vector<BinaryTree> trees;
    for (const auto& nodes : records) {
        trees.push_back(tree_of(nodes));
        if (random() % 2) trees.back().column = column;
        if (random() % 2) trees.back().missing_goes_left = {};
    }
    const auto expected = through_table(trees, weight);
    CHECK(expected.has_value());
    for (const std::size_t n_threads : {1u, 2u, 5u}) {
        const auto found = straight(trees, weight, n_threads);
        CHECK(found && are_equal(*found, *expected));
        CHECK(found->source.empty() && !expected->source.empty());
    }
}

// Changes one number, or a whole record, or nothing.
void damage(std::mt19937_64& random, std::vector<Record>& nodes) {
    const auto pick = [&]() -> Record& { return nodes[random() % nodes.size()]; };
    const auto draw = [&] { return static_cast<std::int64_t>(random() % 12) - 2; };
    const auto kind = random() % 8;
    if (kind == 1) pick().left = draw();
    if (kind == 2) pick().right = draw();
    if (kind == 3) pick().feature = draw();
    if (kind == 4) pick().threshold = NAN;
    if (kind == 5) pick() = pick();
    if (kind == 6) nodes.pop_back();
    if (kind == 7) pick().left = static_cast<std::int64_t>(random());
}

// Whatever a tree holds, it is refused where the table is, and nothing outside is touched.
void garbage_is_refused_as_in_a_table() {
    std::mt19937_64 random(0);
    std::size_t n_good = 0;
    const std::vector<double> weight{2.0};
    const std::array<std::int64_t, 4> column{0, 1, -9, 3};
    for (int round = 0; round < 4000; ++round) {
        std::vector<Record> nodes = random_tree(random, random() % 4, kFeatures);
        damage(random, nodes);
        if (nodes.empty()) continue;
        BinaryTree tree = tree_of(nodes);
        if (random() % 4 == 0) tree.column = column;
        const auto found = straight({tree}, weight), expected = through_table({tree}, weight);
        CHECK(found.has_value() == expected.has_value());
        CHECK(!found || are_equal(*found, *expected));
        n_good += found.has_value();
    }
    CHECK(n_good > 400 && n_good < 3600);
}

void statistics_are_checked() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    for (const double bad : {static_cast<double>(NAN), kInfinity, -kInfinity}) {
        auto nodes = kStump;
        nodes[2].impurity = bad;
        CHECK(!straight({tree_of(nodes)}, {1.0}));
        nodes = kStump;
        nodes[0].weight = bad;
        CHECK(!straight({tree_of(nodes)}, {1.0}));
    }
    auto nodes = kStump;
    nodes[1].weight = -1;
    CHECK(!straight({tree_of(nodes)}, {1.0}));
    CHECK(straight({tree_of(kStump)}, {1.0}).has_value());
}

// What is left at leaves is kept only if something is: in no tree, in one of three, and not at the
// first leaf of it.
void what_is_left() {
    std::mt19937_64 random(2);
    std::vector<std::vector<Record>> records;
    for (std::size_t t = 0; t < 3; ++t) {
        records.push_back(random_tree(random, 8, kFeatures));
        for (Record& node : records.back())
            if (node.left < 0) node.impurity = 0;
    }
    const auto pack_all = [&] {
        const std::vector<BinaryTree> trees{tree_of(records[0]), tree_of(records[1]),
                                            tree_of(records[2])};
        const std::vector<double> weight{1, 2, 3};
        const auto found = straight(trees, weight, 2), expected = through_table(trees, weight);
        CHECK(found && expected && are_equal(*found, *expected));
        return found->left;
    };
    CHECK(pack_all().empty());
    records[1].back().impurity = 0.5;
    const auto left = pack_all();
    CHECK(left.size() == 27 && std::ranges::count(left, 0.0) == 26);
    CHECK(std::ranges::find(left, 1.0) >= left.begin() + 9);
}

void the_number_before() {
    constexpr float kMax = std::numeric_limits<float>::max();
    constexpr float kLeast = std::numeric_limits<float>::denorm_min();
    for (const float v : {1.0f, -1.0f, 0.0f, -0.0f, kLeast, -kLeast, kMax,
                          std::numeric_limits<float>::infinity(), 0.1f})
        CHECK(at_or_before(v, true) == std::nextafter(v, -std::numeric_limits<float>::infinity()));
    CHECK(at_or_before(1.0, true) == std::nextafter(1.0, 0.0));
    CHECK(inclusive_threshold<float>(0.1, false) == 0.099999994f);
    CHECK(inclusive_threshold<float>(1e300, false) == kMax);
    CHECK(inclusive_threshold<double>(0.0, true) == -std::numeric_limits<double>::denorm_min());
    CHECK(std::isnan(inclusive_threshold<float>(-std::numeric_limits<double>::infinity(), true)));
}

}  // namespace

int main() {
    equals_the_packed_table();
    garbage_is_refused_as_in_a_table();
    statistics_are_checked();
    what_is_left();
    the_number_before();
}
