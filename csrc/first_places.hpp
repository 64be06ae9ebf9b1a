// Equal numbers of a row, found without a branch that depends on the numbers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace mercer {

// Every number writes its place to the slot of its hash, the last number first: a slot then holds the first of the places
// that were written to it, which a second pass reads. The few numbers that read the place of another number do the same
// with another hash, until none is left; the number that a slot belongs to is settled each time. Slots are never probed
// or cleared: no branch has to be guessed, and no number waits for the one before.
template <class Number>
class FirstPlaces {
  public:
    // For each of `size` < 2^32 numbers, the least place of a number equal to it. The result holds until the next call.
    const uint32_t* find(const Number* numbers, int64_t size) {
        const int shift = begin(size);
        if (first_.size() < static_cast<std::size_t>(size)) first_.resize(static_cast<std::size_t>(size));
        if (is_short(size)) {
            find_all(numbers, static_cast<std::size_t>(size), shift, short_.data());
        } else {
            find_all(numbers, static_cast<std::size_t>(size), shift, long_.data());
        }
        return first_.data();
    }
    // Calls repeated(j, first) for each number that is equal to an earlier one. Those of one number come in order. For
    // numbers of which nearly all differ, and whose lowest bits are as good as a hash.
    template <class Repeated>
    void find_repeated(const Number* numbers, int64_t size, const Repeated& repeated) {
        const int shift = begin(size);
        if (is_short(size)) {
            find_few(numbers, static_cast<std::size_t>(size), shift, short_.data(), repeated);
        } else {
            find_few(numbers, static_cast<std::size_t>(size), shift, long_.data(), repeated);
        }
    }

  private:
    // Slots per number, as long as all slots then stay in the first-level cache; at least one per number beyond.
    static constexpr std::size_t kSlots = 4, kCachedSlots = std::size_t(1) << 14;
    static constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u, kNextFactor = 0xD1342543DE82EF95u;

    // Slots of two bytes leave more of the first-level cache to the numbers.
    static bool is_short(int64_t size) { return size <= int64_t(std::numeric_limits<uint16_t>::max()) + 1; }
    int begin(int64_t size) {
        const auto n = static_cast<std::size_t>(size);
        int bits = 4;
        while ((std::size_t(1) << bits) < std::max(n, std::min(kSlots * n, kCachedSlots))) ++bits;
        const std::size_t n_slots = std::size_t(1) << bits;
        if (is_short(size)) {
            if (short_.size() < n_slots) short_.resize(n_slots);
        } else if (long_.size() < n_slots) {
            long_.resize(n_slots);
        }
        if (left_.size() < n + 1) left_.resize(n + 1);
        return 64 - bits;
    }
    template <class Slot>
    void find_all(const Number* numbers, std::size_t n, int shift, Slot* slots) {
        uint64_t factor = kFactor;
        uint32_t *first = first_.data(), *left = left_.data();
        for (std::size_t j = n; j-- > 0;) slots[(numbers[j] * factor) >> shift] = static_cast<Slot>(j);
        std::size_t n_left = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const uint32_t place = slots[(numbers[j] * factor) >> shift];
            first[j] = place;
            left[n_left] = static_cast<uint32_t>(j);
            n_left += numbers[place] != numbers[j];
        }
        while (n_left) {
            factor *= kNextFactor;
            write(numbers, n_left, factor, shift, slots);
            const std::size_t n_before = n_left;
            n_left = 0;
            for (std::size_t q = 0; q < n_before; ++q) {
                const uint32_t j = left[q], place = slots[(numbers[j] * factor) >> shift];
                first[j] = place;
                left[n_left] = j;
                n_left += numbers[place] != numbers[j];
            }
        }
    }
    template <class Slot, class Repeated>
    void find_few(const Number* numbers, std::size_t n, int shift, Slot* slots, const Repeated& repeated) {
        const uint64_t mask = (uint64_t(1) << (64 - shift)) - 1;
        uint32_t* left = left_.data();
        for (std::size_t j = n; j-- > 0;) slots[numbers[j] & mask] = static_cast<Slot>(j);
        std::size_t n_left = 0;
        for (std::size_t j = 0; j < n; ++j) {
            left[n_left] = static_cast<uint32_t>(j);
            n_left += slots[numbers[j] & mask] != j;
        }
        n_left = take_repeated(numbers, n_left, [=](Number number) { return slots[number & mask]; }, repeated);
        for (uint64_t factor = kFactor; n_left; factor *= kNextFactor) {
            write(numbers, n_left, factor, shift, slots);
            const auto held = [=](Number number) { return slots[(number * factor) >> shift]; };
            n_left = take_repeated(numbers, n_left, held, repeated);
        }
    }
    template <class Slot>
    void write(const Number* numbers, std::size_t n_left, uint64_t factor, int shift, Slot* slots) const {
        for (std::size_t q = n_left; q-- > 0;) {
            slots[(numbers[left_[q]] * factor) >> shift] = static_cast<Slot>(left_[q]);
        }
    }
    // Settles the numbers that are left and read their own place or that of an equal number; returns how many remain.
    template <class Held, class Repeated>
    std::size_t take_repeated(const Number* numbers, std::size_t n_left, const Held& held, const Repeated& repeated) {
        std::size_t n = 0;
        for (std::size_t q = 0; q < n_left; ++q) {
            const uint32_t j = left_[q], place = held(numbers[j]);
            const bool same = numbers[place] == numbers[j];
            left_[n] = j;
            n += !same;
            if (same && place != j) repeated(j, place);
        }
        return n;
    }

    std::vector<uint16_t> short_;
    std::vector<uint32_t> long_, first_, left_;
};

}  // namespace mercer
