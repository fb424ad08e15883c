// The weights of Theorem 2: a set of s features stands before one of the p - s others in a random
// order with probability w(s) = s! (p - s - 1)! / p!.
#pragma once

#include <vector>

namespace localmdi::infinite {

class ShapleyWeights {
public:
    explicit ShapleyWeights(std::size_t p) : w_(p + 1, 0.0) {
        if (p == 0) return;
        w_[0] = 1.0 / static_cast<double>(p);
        for (std::size_t s = 1; s < p; ++s)
            w_[s] = w_[s - 1] * static_cast<double>(s) / static_cast<double>(p - s);
    }
    double w(std::size_t s) const { return w_[s]; }
    double u(std::size_t s) const { return w_[s] + (s > 0 ? w_[s - 1] : 0.0); }

private:
    std::vector<double> w_;  // w(p) = 0
};

}  // namespace localmdi::infinite
