/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JSON report: what its parts share. A part writes one key with its value, or one element of a
 * list; ws_report_json() in json.c lists them in order. Whatever is missing is null, with the
 * reason beside it.
 */
#ifndef WSI_RENDER_JSON_H
#define WSI_RENDER_JSON_H

#include <warpscope/report.h>

#include "base/base.h"

/* ---- parts ---- */

void wsi_json_dump(struct ws_json *json, const struct ws_report *report);
void wsi_json_image(struct ws_json *json, const struct ws_report *report);
void wsi_json_snapshot(struct ws_json *json, const struct ws_report *report);
void wsi_json_device(struct ws_json *json, const struct ws_report_device *device);
void wsi_json_kernel(struct ws_json *json, const struct ws_report_kernel *kernel);
void wsi_json_exception(struct ws_json *json, const struct ws_report_exception *e);
void wsi_json_frame(struct ws_json *json, const struct ws_report_frame *frame);
void wsi_json_map(struct ws_json *json, const struct ws_report *report);
void wsi_json_waits(struct ws_json *json, const struct ws_report *report);
void wsi_json_group(struct ws_json *json, const struct ws_report_group *group);
void wsi_json_claim(struct ws_json *json, const struct ws_report_claim *claim);
/* A key with a claim; null where it has no text. */
void wsi_json_key_claim(struct ws_json *json, const char *key, const struct ws_report_claim *claim);
/* Keys of the object that is open: a claim; what explains an exception; a kernel's parameters. */
void wsi_json_claim_keys(struct ws_json *json, const struct ws_report_claim *claim);
void wsi_json_accesses(struct ws_json *json, const struct ws_report_exception *e);
void wsi_json_owner(struct ws_json *json, const struct ws_report_owner *owner);
void wsi_json_params(struct ws_json *json, const struct ws_report_kernel *kernel);
/* Keys of the object that is open: function, file and line; coordinates. */
void wsi_json_place(struct ws_json *json, const struct ws_report_frame *frame);
void wsi_json_thread(struct ws_json *json, const struct ws_report_thread *at);
/* The key "example" with a thread. */
void wsi_json_example(struct ws_json *json, const struct ws_report_thread *at);

/* A key with all elements of one of the lists of a struct: `list` and `n_list`. */
#define WSI_JSON_LIST(json, owner, list, write)                  \
	do {                                                     \
		ws_json_key(json, #list);                        \
		ws_json_array(json);                             \
		for (uint32_t i = 0; i < (owner)->n_##list; i++) \
			write(json, &(owner)->list[i]);          \
		ws_json_end(json);                               \
	} while (0)

/* ---- keys ---- */

/* A key with an object or array that is open then; false: the reason why it is missing. */
bool wsi_json_object(struct ws_json *json, const char *key, enum ws_status status);
bool wsi_json_array(struct ws_json *json, const char *key, enum ws_status status);
void wsi_json_key_text(struct ws_json *json, const char *key, const char *text); /* NULL: absent */
void wsi_json_key_str(struct ws_json *json, const char *key, struct ws_str text,
		      enum ws_status status);
void wsi_json_key_u64(struct ws_json *json, const char *key, uint64_t value, enum ws_status status);
/* A number that is WS_NONE when there is none. */
void wsi_json_key_number(struct ws_json *json, const char *key, uint32_t value);
void wsi_json_key_hex(struct ws_json *json, const char *key, uint64_t value, enum ws_status status);
void wsi_json_key_dim3(struct ws_json *json, const char *key, struct ws_dim3 dim,
		       enum ws_status status);
enum ws_status wsi_status_if(bool present); /* WS_OK or WS_ABSENT */

#endif
