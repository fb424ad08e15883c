// One tree, from its root to its leaves, without recursion: a stack of the nodes that wait.
//
// The general case: missing values, categories, weights, bootstrap, best of K, limits on leaves.
// What is written down about a node when it is pushed (its rows, its pool, its sums, its feature's
// credit) is all that is needed to go on with it later; the branch is brought back to its depth.
//
// What must stay true:
// - random numbers are drawn in the order in which nodes are visited, so that order is part of what
//   a seed means; PlainGrower follows it as well;
// - a child's sums may be taken as its parent's minus its siblings' only where that is exact (whole
//   weights below 2^52). Only then do they not depend on the order of the rows;
// - rows that do not count (not drawn, or of weight 0) go down with the others and get importances,
//   but no sum, range or choice may depend on them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "localmdi/grow/branch.hpp"
#include "localmdi/grow/chunk.hpp"
#include "localmdi/grow/node_sums.hpp"
#include "localmdi/grow/row_draws.hpp"
#include "localmdi/grow/split_choice.hpp"

namespace localmdi::grow {

template <class Sums>
class TreeGrower {
public:
    TreeGrower(const TrainingRows& rows, const GrowRules& rules, const Sums& criterion,
               std::size_t n_codes, Interrupt& interrupt)
        : rows_(rows),
          rules_(rules),
          criterion_(criterion),
          interrupt_(interrupt),
          draws_(rows, rules, criterion.label()),
          by_class_(rules.max_features > 1 && !criterion.label().empty() &&
                    each_row_once(rows, rules)),
          lists_(rows, n_codes,
                 by_class_ ? rows_by_class(criterion.label()) : rows_as_given(rows.n_rows)),
          pool_(rows.n_features),
          chooser_(rules, criterion, lists_, pool_, by_class_),
          branch_(rows.n_features),
          node_sums_(criterion.n_sums()) {}

    // The chooser works on the lists and the pool of this very object.
    TreeGrower(const TreeGrower&) = delete;
    TreeGrower& operator=(const TreeGrower&) = delete;

    // `keep`: whether the nodes stay in the chunk.
    void grow(std::size_t tree, GrowChunk& chunk, bool keep) {
        random_ = TreeRandom(rules_.seed, tree);
        chunk_ = &chunk;
        tree_ = tree;
        // Every leaf has a counted row, and every split two children or more.
        chunk.tree.begin(2 * rows_.n_rows, true);
        weight_ = draws_.draw(tree, random_);
        start();
#ifdef LOCALMDI_AVX2
        if (avx2_) visit_all_avx2();
#endif
        visit_all();
        branch_.return_to(0);
        chunk.finish_tree(chunk.tree.impurity(0), root_weight_, keep);
    }

private:
    // A node that waits to be split.
    struct Pending {
        NodeRows rows;
        PoolState pool;
        std::uint32_t node, depth;
        std::uint32_t feature;  // of the split above
        double credit;          // of `feature`, on the path to this node
    };

    void start() {
        const NodeRows rows =
            lists_.reset(weight_, !rules_.honest);  // HonestRows routes the others
        child_sums_.assign(criterion_.n_sums(), 0.0);
        sum(rows.counted, child_sums_.data());
        const bool empty = rows.counted.size() == 0;  // only rows of weight 0 were drawn
        const double impurity = empty ? 0 : criterion_.impurity(child_sums_.data());
        tie_tolerance_ = kTieTolerance * impurity;
        root_weight_ = child_sums_[0];
        min_weight_ = rules_.min_weight_leaf * root_weight_;
        Pending root{rows, pool_.reset(), 0, 0, 0, 0};
        chunk_->tree.add({child_sums_[0], impurity});
        if (empty || is_leaf(root, impurity)) finish(root, child_sums_.data());
        else push(root, child_sums_.data());
    }

    void sum(Part counted, double* sums) const {
        for (const std::uint32_t row : lists_.ids(counted)) criterion_.add(sums, row, weight_[row]);
        criterion_.finish(sums);
    }

    bool is_leaf(const Pending& at, double impurity) const {
        const std::size_t n = at.rows.counted.size();
        return n < rules_.min_samples_split || n < 2 * rules_.min_samples_leaf ||
               at.depth >= rules_.max_depth ||
               criterion_.pure(impurity, lists_.ids(at.rows.counted));
    }

    void push(const Pending& at, const double* sums) {
        stack_.push_back(at);
        const std::size_t n_sums = criterion_.n_sums();
        if (n_waiting_ + n_sums > waiting_sums_.size())
            waiting_sums_.resize(2 * (n_waiting_ + n_sums));
        std::copy_n(sums, n_sums, waiting_sums_.data() + n_waiting_);
        n_waiting_ += n_sums;
    }

    void visit_all() {
        while (!stack_.empty()) {
            const Pending next = stack_.back();
            stack_.pop_back();
            if (++n_visits_ % 4096 == 0) interrupt_.check();
            visit(next);
        }
    }
#ifdef LOCALMDI_AVX2
    LOCALMDI_AVX2_PIECE void visit_all_avx2() { visit_all(); }
#endif

    void visit(Pending at) {
        const std::size_t n_sums = criterion_.n_sums();
        // The node on top of the stack is the one whose sums came last.
        n_waiting_ -= n_sums;
        std::copy_n(waiting_sums_.data() + n_waiting_, n_sums, node_sums_.data());
        branch_.return_to(at.depth);
        branch_.credit(at.feature) = at.credit;
        const double impurity = chunk_->tree.impurity(at.node);
        const Split split =
            chooser_.choose({at.rows.counted, node_sums_.data(), impurity, tie_tolerance_,
                             min_weight_, branch_.n_splits(), weight_},
                            at.pool, random_);
        if (split.kind == SplitKind::leaf || !divide(split, at, impurity))
            finish(at, node_sums_.data());
    }

    // Divides the rows of the node; false, and a leaf, if the children break a rule.
    bool divide(const Split& split, Pending& at, double impurity) {
        const Part behind = lists_.divide(split, at.rows, children_);
        for (const Child& child : children_)
            if (child.rows.counted.size() < rules_.min_samples_leaf) return false;
        sum_children();
        double left = 0;
        const std::size_t n_sums = criterion_.n_sums();
        for (std::size_t k = 0; k < children_.size(); ++k) {
            const double* const sums = child_sums_.data() + k * n_sums;
            if (sums[0] < min_weight_) return false;
            // Most leaves have one row, and one row has no impurity.
            const bool single = children_[k].rows.counted.size() == 1;
            child_impurity_[k] = single ? 0.0 : criterion_.impurity(sums);
            left += sums[0] * child_impurity_[k];
        }
        const double decrease = node_sums_[0] * impurity - left;
        // Without a limit a useless split is a split, even if rounding makes it a bad one.
        if (rules_.min_impurity_decrease > 0 &&
            decrease / root_weight_ < rules_.min_impurity_decrease)
            return false;
        if (behind.size() > 0) end_here(behind, impurity, node_sums_.data());
        chunk_->add_decrease(split.feature, decrease);
        enter(split, at, impurity);
        return true;
    }

    // Of every child; where that is exact, the largest child gets what the others leave.
    void sum_children() {
        const std::size_t n_sums = criterion_.n_sums(), n = children_.size();
        child_sums_.resize(n * n_sums);
        child_impurity_.resize(n);
        std::size_t rest = n;
        if (criterion_.exact()) {
            rest = 0;
            for (std::size_t k = 1; k < n; ++k)
                if (children_[k].rows.counted.size() > children_[rest].rows.counted.size())
                    rest = k;
            std::copy(node_sums_.begin(), node_sums_.end(),
                      child_sums_.begin() + static_cast<std::ptrdiff_t>(rest * n_sums));
        }
        for (std::size_t k = 0; k < n; ++k) {
            if (k == rest) continue;
            double* const sums = child_sums_.data() + k * n_sums;
            std::fill_n(sums, n_sums, 0.0);
            sum(children_[k].rows.counted, sums);
            if (rest == n) continue;
            double* const others = child_sums_.data() + rest * n_sums;
            for (std::size_t s = 0; s < n_sums; ++s) others[s] -= sums[s];
        }
    }

    // The split becomes part of the tree; children that are leaves are finished at once.
    void enter(const Split& split, Pending& at, double impurity) {
        const std::uint32_t f = split.feature;
        write_split(split, at.node);
        branch_.enter(f);
        if (split.kind == SplitKind::multiway) {
            pool_.retire_feature(f, at.pool);
            if (rules_.draw == Draw::sklearn) ++at.pool.n_constant;
        }
        const double before = branch_.credit(f);
        for (std::uint32_t k = 0; k < children_.size(); ++k) {
            // Definition 1: what the row gains by going from t to this child belongs to the
            // feature.
            const double credit = before + (impurity - child_impurity_[k]);
            const double* const sums = child_sums_.data() + k * criterion_.n_sums();
            const std::uint32_t which = chunk_->tree.add({sums[0], child_impurity_[k]});
            const Pending child{children_[k].rows, at.pool, which, at.depth + 1, f, credit};
            if (!is_leaf(child, child_impurity_[k])) {
                push(child, sums);
                continue;
            }
            branch_.credit(f) = credit;
            finish(child, sums);
        }
    }

    void write_split(const Split& split, std::uint32_t which) {
        TreeWriter& tree = chunk_->tree;
        GrownNode& parent = tree[which];
        parent.kind = split.kind;
        parent.feature = static_cast<std::int32_t>(split.feature);
        parent.missing_child = split.missing_child;
        parent.first_child = tree.size();
        if (split.kind != SplitKind::multiway) {
            parent.threshold = split.threshold;
            return;
        }
        parent.codes = static_cast<std::uint32_t>(tree.codes.size());
        tree.codes.push_back(static_cast<std::uint32_t>(children_.size()));
        for (const Child& child : children_) tree.codes.push_back(child.code);
    }

    void finish(const Pending& at, const double* sums) {
        TreeWriter& tree = chunk_->tree;
        const double impurity = tree.impurity(at.node);
        const auto counted = lists_.ids(at.rows.counted);
        tree[at.node].first_child = criterion_.store(sums, impurity, counted, tree);
        end_here(at.rows.passive, impurity, sums);
        chunk_->add_rows({tree_, branch_.credits(), branch_.path(), impurity}, counted);
    }

    // Rows that only pass through end at this node.
    void end_here(Part passive, double impurity, const double* sums) {
        if (passive.size() == 0) return;
        chunk_->add_rows({tree_, branch_.credits(), branch_.path(), impurity}, lists_.ids(passive));
        chunk_->add_out_of_bag(sums, lists_.ids(passive));
    }

    // Relative to the impurity of the root; real decreases are not that close to each other.
    static constexpr double kTieTolerance = 1e-11;

    const TrainingRows& rows_;
    const GrowRules& rules_;
    const Sums& criterion_;
    Interrupt& interrupt_;
    RowDraws draws_;
    const bool by_class_;
    RowLists lists_;
    FeaturePool pool_;
    SplitChooser<Sums> chooser_;

    TreeRandom random_{0, 0};
    GrowChunk* chunk_ = nullptr;
    std::size_t tree_ = 0, n_visits_ = 0;
    double root_weight_ = 0, min_weight_ = 0, tie_tolerance_ = 0;
    std::span<const double> weight_;

    std::vector<Pending> stack_;
    std::vector<double> waiting_sums_;  // of the nodes on the stack: the first n_waiting_
    std::size_t n_waiting_ = 0;
    Branch branch_;
    std::vector<Child> children_;
    std::vector<double> node_sums_, child_sums_, child_impurity_;
    bool avx2_ = has_avx2();
};

}  // namespace localmdi::grow
