// Learning with a budget of support vectors, for one instruction set.

#include "budget_steps.hpp"
#include "budget_exponents.hpp"
#include "budget_slots.hpp"
#include "budget_removal.hpp"
#include "budget_inverse.hpp"
#include "budget_projection.hpp"
#include "budget_merging.hpp"
#include "budget_newton.hpp"
#include "budget_rounded.hpp"
#include "budget_settled.hpp"
#include "budget.hpp"
