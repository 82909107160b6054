/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of device code: images as the debugger API gives them, whose symbols have the addresses at
 * which the code was loaded.
 */
#ifndef IMAGE_H
#define IMAGE_H

#include <stddef.h>
#include <stdint.h>

/* An image is there, or gone. Takes the bytes over, which malloc() gave. */
void image_add(uint64_t handle, void *bytes, size_t n);
void image_drop(uint64_t handle);
/* The address of a function; 0: there is none of that name, or it is not loaded. */
uint64_t image_function(const char *name);
/* The function that an address is in, and where it begins; NULL: none. */
const char *image_name(uint64_t address, uint64_t *ret_begin);

#endif
