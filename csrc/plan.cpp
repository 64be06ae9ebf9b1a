#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace mercer {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

// exp(-2 pi i k / n) from the first octant, where sine and cosine are exact to the last bit.
struct Turn {
    double cosine, sine;
};

Turn turn(int64_t k, int64_t n) {
    k %= n;
    if (2 * k > n) {
        const Turn mirror = turn(n - k, n);
        return {mirror.cosine, -mirror.sine};
    }
    if (4 * k > n) {  // exp(-i a) = -exp(i (pi - a))
        const double angle = kTwoPi * static_cast<double>(n - 2 * k) / static_cast<double>(2 * n);
        return {-std::cos(angle), -std::sin(angle)};
    }
    if (8 * k > n) {  // a quarter turn less the rest
        const double angle = kTwoPi * static_cast<double>(n - 4 * k) / static_cast<double>(4 * n);
        return {std::sin(angle), -std::cos(angle)};
    }
    const double angle = kTwoPi * static_cast<double>(k) / static_cast<double>(n);
    return {std::cos(angle), -std::sin(angle)};
}

int64_t divide_out(int64_t& n, int64_t factor) {
    int64_t power = 0;
    for (; n % factor == 0; n /= factor) ++power;
    return power;
}

// Odd radices first, then as few passes for the power of two as radix 8 allows; 8 * 2 is better as 4 * 4.
std::vector<int64_t> radices(int64_t length) {
    std::vector<int64_t> result(static_cast<std::size_t>(divide_out(length, 5)), 5);
    result.insert(result.end(), static_cast<std::size_t>(divide_out(length, 3)), 3);
    int64_t twos = divide_out(length, 2);
    for (; twos >= 3 && twos != 4; twos -= 3) result.push_back(8);
    for (; twos >= 2; twos -= 2) result.push_back(4);
    if (twos == 1) result.push_back(2);
    return result;
}

// The memory behind one FftPlan.
template <class T>
class Fft {
public:
    Fft() = default;
    explicit Fft(int64_t length) : length_(length), position_(static_cast<std::size_t>(length)) {
        int64_t span = length;
        for (const int64_t radix : radices(length)) {
            span /= radix;
            twiddles_.push_back(twiddle(radix, span));
            passes_.push_back({radix, span, twiddles_.back().data()});
        }
        for (int64_t k = 0; k < length; ++k) position_[static_cast<std::size_t>(k)] = position(k);
    }

    FftPlan<T> plan() const {
        return {length_, static_cast<int64_t>(passes_.size()), passes_.data(), position_.data()};
    }

private:
    static std::vector<T> twiddle(int64_t radix, int64_t span) {
        std::vector<T> result;
        for (int64_t j = 0; j < span; ++j) {
            for (int64_t q = 1; q < radix; ++q) {
                const Turn w = turn(j * q, radix * span);
                result.push_back(static_cast<T>(w.cosine));
                result.push_back(static_cast<T>(w.sine));
            }
        }
        return result;
    }

    // The lowest digit of k chooses the block of the first pass, the next one the block inside it, and so on.
    int32_t position(int64_t k) const {
        int64_t result = 0;
        for (const FftPass<T>& pass : passes_) {
            result += k % pass.radix * pass.span;
            k /= pass.radix;
        }
        return static_cast<int32_t>(result);
    }

    int64_t length_ = 0;
    std::vector<std::vector<T>> twiddles_;
    std::vector<FftPass<T>> passes_;
    std::vector<int32_t> position_;
};

// The memory behind one RealPlan. Not movable: the plans point into it.
template <class T>
class RealFft {
public:
    explicit RealFft(int64_t length) : full_(length) {
        if (length % 2 == 0) {
            half_ = Fft<T>(length / 2);
            list_pairs(full_.plan(), half_.plan());
        }
        plan_ = {full_.plan(), half_.plan(), pairs_.data(), static_cast<int64_t>(pairs_.size())};
    }
    RealFft(const RealFft&) = delete;
    RealFft& operator=(const RealFft&) = delete;

    const RealPlan<T>& plan() const { return plan_; }

private:
    void list_pairs(const FftPlan<T>& full, const FftPlan<T>& half) {
        const int64_t length = full.length, middle = half.length;
        for (int64_t k = 0; k <= middle / 2; ++k) {
            const Turn w = turn(k, length);
            const int32_t half_other = k == 0 ? static_cast<int32_t>(middle) : half.position[middle - k];
            pairs_.push_back({full.position[k], full.position[(length - k) % length], full.position[middle - k],
                              full.position[middle + k], half.position[k % middle], half_other,
                              static_cast<T>(w.cosine), static_cast<T>(w.sine)});
        }
        // In the order of memory, for the prefetcher.
        std::sort(pairs_.begin(), pairs_.end(),
                  [](const SpectrumPair<T>& a, const SpectrumPair<T>& b) { return a.full < b.full; });
    }

    Fft<T> full_, half_;
    std::vector<SpectrumPair<T>> pairs_;
    RealPlan<T> plan_;
};

}  // namespace

bool is_smooth(int64_t n) {
    if (n <= 0) return false;
    for (const int64_t factor : {2, 3, 5}) divide_out(n, factor);
    return n == 1;
}

template <class T>
const RealPlan<T>& real_plan(int64_t length) {
    constexpr std::size_t kKept = 8;
    thread_local std::vector<std::unique_ptr<const RealFft<T>>> cache;  // most recent last
    const auto found = std::find_if(cache.begin(), cache.end(),
                                    [length](const auto& fft) { return fft->plan().full.length == length; });
    if (found != cache.end()) {
        std::rotate(found, found + 1, cache.end());
    } else {
        if (cache.size() == kKept) cache.erase(cache.begin());
        cache.push_back(std::make_unique<const RealFft<T>>(length));
    }
    return cache.back()->plan();
}

template const RealPlan<float>& real_plan(int64_t);
template const RealPlan<double>& real_plan(int64_t);

}  // namespace mercer
