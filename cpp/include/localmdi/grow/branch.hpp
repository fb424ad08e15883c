// The branch that growing is on: which features it splits, and what each has gained (Definition 1).
//
// Growing is depth first, so that one vector of credits serves the whole tree. Each split remembers
// what its feature had before it; going back up restores these numbers in reverse, bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace localmdi::grow {

class Branch {
public:
    explicit Branch(std::size_t n_features)
        : credit_(n_features), n_splits_(n_features), path_(n_features + 1) {}

    // What the feature has gained on the way to the current node; it may be set after enter().
    double& credit(std::uint32_t feature) { return credit_[feature]; }

    // Goes down through a split.
    void enter(std::uint32_t feature) {
        if (depth_ == above_.size()) above_.resize(2 * depth_ + 64);
        above_[depth_++] = {feature, credit_[feature]};
        path_[n_path_] = feature;  // stays only if it is new
        n_path_ += n_splits_[feature]++ == 0;
    }

    // Goes back up to where this many splits lead.
    void return_to(std::size_t depth) {
        while (depth_ > depth) {
            const auto [feature, credit] = above_[--depth_];
            credit_[feature] = credit;
            // What entered the path last is the first to leave it.
            n_path_ -= --n_splits_[feature] == 0;
        }
    }

    std::span<const double> credits() const { return credit_; }  // per feature, 0 off the path
    std::span<const std::uint32_t> path() const {                // the distinct features on it
        return {path_.data(), n_path_};
    }
    const std::uint32_t* n_splits() const { return n_splits_.data(); }  // per feature

private:
    struct Above {
        std::uint32_t feature;
        double credit;
    };

    std::vector<double> credit_;
    std::vector<std::uint32_t> n_splits_, path_;
    std::vector<Above> above_;  // for each split: its feature's credit before it
    std::size_t n_path_ = 0, depth_ = 0;
};

}  // namespace localmdi::grow
