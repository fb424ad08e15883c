// Every rule of the node table has a table that breaks it alone; random damage is either refused or
// leaves trees that can be walked (run under ASan and UBSan: no read outside an array).
#include "localmdi/forest/validate.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "support/check.hpp"

using namespace localmdi::forest;

namespace {

constexpr std::uint8_t kLeaf = 0, kLessEqual = 1, kLess = 2, kSet = 3, kMultiway = 4;

struct Table {
    std::int64_t n_features = 3;
    std::vector<std::int64_t> tree_offset;
    std::vector<std::int32_t> feature;
    std::vector<std::uint8_t> split_kind;
    std::vector<double> threshold;
    std::vector<std::int64_t> child_offset;
    std::vector<std::int64_t> child;
    std::vector<std::int32_t> missing_child;
    std::vector<std::int64_t> category_offset;
    std::vector<std::uint64_t> category_bits;

    ForestView view() const {
        return {n_features,   tree_offset, feature,       split_kind,      threshold,
                child_offset, child,       missing_child, category_offset, category_bits};
    }
    bool good() const { return !validate(view()); }
    bool bad(std::string_view code, std::size_t node) const {
        const auto problem = validate(view());
        return problem && problem->code == code && problem->node == node;
    }
};

// Tree 0: a multiway root with three children: an ordered split, a category set, a leaf.
// Tree 1: one leaf.
Table example() {
    Table t;
    t.tree_offset = {0, 8, 9};
    t.feature = {2, 0, 1, -1, -1, -1, -1, -1, -1};
    t.split_kind = {kMultiway, kLessEqual, kSet, kLeaf, kLeaf, kLeaf, kLeaf, kLeaf, kLeaf};
    t.threshold = {0, 0.5, 0, std::nan(""), 0, 0, 0, 0, 0};
    t.child_offset = {0, 3, 5, 7, 7, 7, 7, 7, 7, 7};
    t.child = {1, 2, 3, 4, 5, 6, 7};
    t.missing_child = {2, 1, -1, -1, -1, -1, -1, -1, -1};
    t.category_offset = {0, 3, 3, 4, 4, 4, 4, 4, 4, 4};
    t.category_bits = {0, 7, kMaxCategoryCode, 0};
    return t;
}

template <class Change>
Table changed(Change change) {
    Table t = example();
    change(t);
    return t;
}

void test_good_tables() {
    CHECK(example().good());
    for (const double threshold : {-HUGE_VAL, HUGE_VAL, 0.0})
        CHECK(changed([&](Table& t) { t.threshold[1] = threshold; }).good());
    CHECK(changed([](Table& t) { t.split_kind[1] = kLess; }).good());
    CHECK(changed([](Table& t) { t.threshold[0] = t.threshold[2] = std::nan(""); }).good());
    CHECK(changed([](Table& t) { t.category_bits[3] = ~0ull; }).good());
    // A child list may name the nodes of a tree in any order.
    CHECK(changed([](Table& t) { t.child = {3, 1, 2, 7, 6, 5, 4}; }).good());
}

void test_lengths() {
    CHECK(Table{}.bad("lengths", 0));
    CHECK(changed([](Table& t) { t.feature.pop_back(); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.split_kind.pop_back(); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.threshold.push_back(0); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.missing_child.clear(); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.child_offset.pop_back(); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.category_offset.clear(); }).bad("lengths", 0));
    CHECK(changed([](Table& t) { t.n_features = 0; }).bad("n_features", 0));
    CHECK(changed([](Table& t) { t.n_features = -1; }).bad("n_features", 0));
}

void test_offsets() {
    const auto trees = [](std::vector<std::int64_t> offset) {
        return changed([&](Table& t) { t.tree_offset = offset; });
    };
    CHECK(trees({}).bad("tree_offset", 0));
    CHECK(trees({0}).bad("tree_offset", 0));
    CHECK(trees({1, 9}).bad("tree_offset", 0));
    CHECK(trees({0, 8}).bad("tree_offset", 0));
    CHECK(trees({0, 8, 8, 9}).bad("tree_offset", 1));
    CHECK(trees({0, 8, 10}).bad("tree_offset", 1));
    CHECK(trees({0, 8, 9, 9}).bad("tree_offset", 2));
    CHECK(trees({0, -1, 9}).bad("tree_offset", 0));
    CHECK(trees({0, 8, std::numeric_limits<std::int64_t>::max()}).bad("tree_offset", 1));
    CHECK(changed([](Table& t) { t.child_offset[0] = 1; }).bad("child_offset", 0));
    CHECK(changed([](Table& t) { t.child_offset[2] = 2; }).bad("child_offset", 1));
    CHECK(changed([](Table& t) { t.child_offset[1] = 8; }).bad("child_offset", 0));
    CHECK(changed([](Table& t) { t.child_offset[1] = -1; }).bad("child_offset", 0));
    CHECK(changed([](Table& t) { t.child.push_back(8); }).bad("child_offset", 8));
    CHECK(changed([](Table& t) { t.category_offset[0] = -1; }).bad("category_offset", 0));
    CHECK(changed([](Table& t) { t.category_offset[2] = 2; }).bad("category_offset", 1));
    CHECK(changed([](Table& t) { t.category_offset[9] = 5; }).bad("category_offset", 8));
    CHECK(changed([](Table& t) { t.category_bits.push_back(0); }).bad("category_offset", 8));
}

void test_nodes() {
    CHECK(changed([](Table& t) { t.split_kind[1] = 5; }).bad("split_kind", 1));
    CHECK(changed([](Table& t) { t.split_kind[8] = 255; }).bad("split_kind", 8));
    CHECK(changed([](Table& t) { t.feature[1] = 3; }).bad("feature", 1));
    CHECK(changed([](Table& t) { t.feature[2] = -1; }).bad("feature", 2));
    CHECK(changed([](Table& t) { t.feature[8] = 0; }).bad("leaf_feature", 8));
    CHECK(changed([](Table& t) { t.missing_child[1] = 2; }).bad("missing_child", 1));
    CHECK(changed([](Table& t) { t.missing_child[2] = -2; }).bad("missing_child", 2));
    CHECK(changed([](Table& t) { t.missing_child[3] = 0; }).bad("missing_child", 3));
    CHECK(changed([](Table& t) { t.threshold[1] = std::nan(""); }).bad("threshold", 1));
    CHECK(changed([](Table& t) {
              t.split_kind[1] = kLeaf;
              t.missing_child[1] = -1;
          }).bad("leaf_children", 1));
    CHECK(changed([](Table& t) { t.split_kind[0] = kLess; }).bad("two_children", 0));
    CHECK(changed([](Table& t) { t.split_kind[0] = kSet; }).bad("two_children", 0));
    CHECK(changed([](Table& t) {
              t.split_kind[3] = kMultiway;
              t.feature[3] = 0;
          }).bad("multiway_children", 3));
}

void test_categories() {
    CHECK(changed([](Table& t) { t.split_kind[1] = kSet; }).bad("category_set", 1));
    CHECK(changed([](Table& t) { t.split_kind[1] = kMultiway; }).bad("multiway_codes", 1));
    CHECK(changed([](Table& t) { t.split_kind[2] = kLess; }).bad("no_categories", 2));
    CHECK(changed([](Table& t) { t.category_offset[3] = 3; }).bad("category_set", 2));
    CHECK(changed([](Table& t) {
              t.category_bits.push_back(1);
              t.category_offset[9] = 5;
          }).bad("no_categories", 8));
    CHECK(changed([](Table& t) { t.category_bits[1] = 0; }).bad("category_order", 0));
    CHECK(changed([](Table& t) { t.category_bits[0] = 8; }).bad("category_order", 0));
    CHECK(changed([](Table& t) { ++t.category_bits[2]; }).bad("category_code", 0));
}

void test_children() {
    CHECK(changed([](Table& t) { t.child[0] = 0; }).bad("child", 0));  // its own parent
    CHECK(changed([](Table& t) { t.child[3] = 0; }).bad("child", 1));  // a cycle
    CHECK(changed([](Table& t) { t.child[6] = 8; }).bad("child", 2));  // another tree's root
    CHECK(changed([](Table& t) { t.child[6] = 9; }).bad("child", 2));  // no node
    CHECK(changed([](Table& t) { t.child[6] = -1; }).bad("child", 2));
    CHECK(changed([](Table& t) {
              t.child[6] = std::numeric_limits<std::int64_t>::min();
          }).bad("child", 2));
    CHECK(changed([](Table& t) { t.child[6] = 4; }).bad("two_parents", 2));
    CHECK(changed([](Table& t) { t.child[1] = 1; }).bad("two_parents", 0));
    CHECK(changed([](Table& t) {
              t.split_kind[1] = kLeaf;
              t.feature[1] = t.missing_child[1] = -1;
              t.child = {1, 2, 3, 6, 7};
              t.child_offset = {0, 3, 3, 5, 5, 5, 5, 5, 5, 5};
          }).bad("orphan", 4));
    CHECK(changed([](Table& t) {  // in a later tree: its root is a leaf, like all others
              t.tree_offset = {0, 1, 9};
              t.feature.assign(9, -1);
              t.split_kind.assign(9, kLeaf);
              t.missing_child.assign(9, -1);
              t.child.clear();
              t.category_bits.clear();
              t.child_offset.assign(10, 0);
              t.category_offset.assign(10, 0);
          })
              .bad("orphan", 2));
}

// A root leaves out one of its many children: whichever it is, it is found.
void test_every_orphan() {
    constexpr std::size_t kNodes = 200;
    for (std::size_t orphan = 1; orphan < kNodes; ++orphan) {
        Table t;
        t.tree_offset = {0, kNodes};
        t.feature.assign(kNodes, -1);
        t.feature[0] = 0;
        t.split_kind.assign(kNodes, kLeaf);
        t.split_kind[0] = kMultiway;
        t.threshold.assign(kNodes, 0);
        t.missing_child.assign(kNodes, -1);
        for (std::size_t node = 1; node < kNodes; ++node) {
            if (node == orphan) continue;
            t.child.push_back(static_cast<std::int64_t>(node));
            t.category_bits.push_back(node);
        }
        t.child_offset.assign(kNodes + 1, kNodes - 2);
        t.category_offset.assign(kNodes + 1, kNodes - 2);
        t.child_offset[0] = t.category_offset[0] = 0;
        CHECK(t.bad("orphan", orphan));
    }
}

// What every kernel relies on: from the roots each node is met once, through indices in range.
bool walkable(const ForestView& forest) {
    std::vector<bool> met(forest.n_nodes());
    std::vector<std::size_t> stack;
    std::size_t n_met = 0;
    for (std::size_t tree = 0; tree < forest.n_trees(); ++tree) {
        stack.push_back(static_cast<std::size_t>(forest.tree_offset[tree]));
        while (!stack.empty()) {
            const std::size_t node = stack.back();
            stack.pop_back();
            if (met[node]) return false;
            met[node] = true;
            ++n_met;
            for (const std::uint64_t word : forest.categories(node))
                if (forest.kind(node) == SplitKind::multiway && word > kMaxCategoryCode)
                    return false;
            for (std::size_t k = 0; k < forest.n_children(node); ++k)
                stack.push_back(forest.child_of(node, k));
        }
    }
    return n_met == forest.n_nodes();
}

class Damage {
public:
    explicit Damage(unsigned seed) : random_(seed) {}

    Table operator()() {
        Table t = example();
        for (std::size_t n = 1 + pick(3); n > 0; --n) {
            t.n_features = static_cast<std::int64_t>(pick(20)) - 1;
            hit_one(t.tree_offset, t.feature, t.split_kind, t.threshold, t.child_offset, t.child,
                    t.missing_child, t.category_offset, t.category_bits);
        }
        return t;
    }

private:
    std::size_t pick(std::size_t n) { return random_() % n; }

    template <class... Columns>
    void hit_one(Columns&... columns) {
        std::size_t left = pick(sizeof...(columns));
        ((left-- == 0 ? hit(columns) : void()), ...);
    }

    template <class T>
    void hit(std::vector<T>& column) {
        const std::size_t how = pick(8);
        if (how == 0) column.resize(pick(12));
        if (column.empty()) return;
        T& entry = column[pick(column.size())];
        if (how == 1) entry = std::numeric_limits<T>::max();
        else if (how == 2) entry = std::numeric_limits<T>::lowest();
        else if (how == 3) entry = column[pick(column.size())];
        else entry = static_cast<T>(static_cast<int>(pick(12)) - 2);
        column.shrink_to_fit();  // so that the sanitizer sees a read beyond the end
    }

    std::mt19937 random_;
};

void test_random_damage() {
    Damage damage(0);
    std::size_t n_good = 0;
    for (int i = 0; i < 200'000; ++i) {
        const Table t = damage();
        if (!t.good()) continue;
        ++n_good;
        CHECK(walkable(t.view()));
    }
    CHECK(n_good > 1000 && n_good < 150'000);
}

}  // namespace

// With an argument, random damage alone: docs/robustness.md says how much of the rules it reaches.
int main(int n_arguments, char**) {
    test_random_damage();
    if (n_arguments > 1) return 0;
    test_good_tables();
    test_lengths();
    test_offsets();
    test_nodes();
    test_categories();
    test_children();
    test_every_orphan();
}
