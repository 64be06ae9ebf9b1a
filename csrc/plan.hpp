// FFT plans, made once a length for each thread and handed to the arithmetic as plain pointers.
#pragma once

#include "types.hpp"

namespace mercer {

// True if n > 0 has no prime factor but 2, 3 and 5.
bool is_smooth(int64_t n);

// The plan of a smooth length below 2^31, valid until this thread has asked for several other lengths.
template <class T>
const RealPlan<T>& real_plan(int64_t length);

}  // namespace mercer
