/* SPDX-License-Identifier: Apache-2.0 */
/* What every unit test includes first: the internal base, then cmocka with what it needs. */
#ifndef WS_TEST_UNIT_H
#define WS_TEST_UNIT_H

#include "base/base.h"

#include <setjmp.h>

#undef malloc
#undef calloc
#undef realloc
#undef free
#include <cmocka.h>

#endif
