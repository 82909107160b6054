/* SPDX-License-Identifier: Apache-2.0 */
/* Members of back ends across their files. */
#ifndef WSI_TARGET_MEMBER_H
#define WSI_TARGET_MEMBER_H

#include <warpscope/target.h>

/* Declares a function of the type of a member of struct ws_target_ops: PREFIX##NAME(). */
#define WSI_TARGET_MEMBER(prefix, name) \
	__typeof__(*((struct ws_target_ops *)NULL)->name) prefix##name

#endif
