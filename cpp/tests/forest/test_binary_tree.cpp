#include "localmdi/forest/binary_tree.hpp"

#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "forest/binary_records.hpp"
#include "support/check.hpp"

using namespace localmdi::forest;
using namespace localmdi::testing;

namespace {

bool is_refused(const std::vector<Record>& nodes, const std::string& reason) {
    ColumnTable table(nodes.size(), 1);
    NodeWriter writer(table.columns());
    try {
        writer.append(tree_of(nodes));
    } catch (const std::invalid_argument& error) {
        return std::string(error.what()).find(reason) != std::string::npos;
    }
    return false;
}

void trees_follow_each_other() {
    ColumnTable table(7, 3);
    NodeWriter writer(table.columns());
    const std::array<std::int64_t, 4> column{9, 8, 7, 6};
    auto mapped = tree_of(kStump);
    mapped.column = column;
    mapped.missing_goes_left = {};
    writer.append(tree_of(kStump));
    writer.append(tree_of({{-1, -1, -2, -2.0, 0.5, 2.0, 0}}));
    writer.append(mapped);

    CHECK(writer.n_nodes() == 7);
    CHECK((table.feature == std::vector<std::int32_t>{3, -1, -1, -1, 6, -1, -1}));
    CHECK((table.split_kind == std::vector<std::uint8_t>{1, 0, 0, 0, 1, 0, 0}));
    CHECK((table.threshold == std::vector<double>{0.5, 0, 0, 0, 0.5, 0, 0}));
    CHECK((table.child_offset == std::vector<std::int64_t>{0, 2, 2, 2, 2, 4, 4, 4}));
    CHECK((table.child == std::vector<std::int64_t>{1, 2, 5, 6}));
    CHECK((table.missing_child == std::vector<std::int32_t>{0, -1, -1, -1, -1, -1, -1}));
    CHECK((table.weight == std::vector<double>{10, 4, 6, 2, 10, 4, 6}));
    CHECK((table.impurity == std::vector<double>{1, 0.25, 0.75, 0.5, 1, 0.25, 0.75}));
}

void bad_trees_are_refused() {
    constexpr std::int64_t kFar = 1'000'000;
    constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t child : {kFar, kHuge, std::int64_t{-7}, std::int64_t{3}}) {
        auto nodes = kStump;
        nodes[0].left = child;
        CHECK(is_refused(nodes, "a child is not a node"));
        nodes[0].left = 1;
        nodes[0].right = child;
        CHECK(is_refused(nodes, "a child is not a node"));
    }
    auto one_sided = kStump;
    one_sided[0].right = -1;
    CHECK(is_refused(one_sided, "a child is not a node"));
    auto too_many = kStump;
    too_many[1] = too_many[0];
    CHECK(is_refused(too_many, "more children than nodes"));
    CHECK(is_refused({kStump[1], kStump[2]}, "no node's child"));
    for (const std::int64_t feature : {std::int64_t{-2}, std::int64_t{1} << 31, kHuge}) {
        auto nodes = kStump;
        nodes[0].feature = feature;
        CHECK(is_refused(nodes, "no column index"));
    }
}

void columns_are_not_overrun() {
    ColumnTable table(3, 1);
    const std::array<std::int64_t, 3> too_few{0, 1, 2};
    auto tree = tree_of(kStump);
    tree.column = too_few;
    NodeWriter writer(table.columns());
    try {
        writer.append(tree);
        CHECK(false);
    } catch (const std::invalid_argument&) {
    }
}

// Whatever a tree holds, the sanitizers find no access outside the arrays.
void garbage_does_no_harm() {
    std::mt19937_64 random(0);
    std::size_t refused = 0;
    for (int round = 0; round < 2000; ++round) {
        std::vector<Record> nodes(1 + random() % 9);
        for (Record& node : nodes) {
            const auto draw = [&] { return static_cast<std::int64_t>(random() % 12) - 2; };
            node = {draw(), draw(), draw(), 0.5, 0.5, 1.0, 1};
            if (random() % 2) node.left = node.right = -1;
            if (random() % 50 == 0) node.left = static_cast<std::int64_t>(random());
        }
        const std::array<std::int64_t, 4> column{0, 1, -9, 3};
        auto tree = tree_of(nodes);
        if (random() % 2) tree.column = column;
        ColumnTable table(nodes.size(), 1);
        NodeWriter writer(table.columns());
        try {
            writer.append(tree);
        } catch (const std::invalid_argument&) {
            ++refused;
        }
    }
    CHECK(refused > 0 && refused < 2000);
}

void space_is_checked() {
    ColumnTable table(4, 2);
    NodeWriter writer(table.columns());
    writer.append(tree_of(kStump));
    try {
        writer.append(tree_of(kStump));
        CHECK(false);
    } catch (const std::invalid_argument&) {
    }
    CHECK(writer.n_nodes() == 3);

    table.impurity.pop_back();
    try {
        const NodeWriter unequal(table.columns());
        CHECK(false);
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace

int main() {
    trees_follow_each_other();
    bad_trees_are_refused();
    columns_are_not_overrun();
    garbage_does_no_harm();
    space_is_checked();
}
