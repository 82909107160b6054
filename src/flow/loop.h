/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about the loop around an instruction share:
 *
 *   loop.c       its instructions, what depends on what, which conditions leave it
 *   condition.c  what a condition compares, and how several are joined
 */
#ifndef WSI_FLOW_LOOP_H
#define WSI_FLOW_LOOP_H

#include "flow/flow.h"

enum { WSI_LOOP_INPUTS = 3 /* conditions that are joined by one instruction */ };

struct wsi_loop_edge {
	uint16_t to;
	bool predicate; /* a predicate is read */
};

struct wsi_loop_node {
	size_t at;
	uint16_t first_edge, n_edges;
	bool opaque;  /* reads memory, or calls: what it gives comes from outside */
	bool varies;  /* depends on itself, or on what nobody can say */
	bool clock;   /* reads a clock */
	bool decides; /* some condition, or the length of a sleep, depends on it */
};

/* A condition that is still to be looked at. */
struct wsi_loop_condition {
	uint16_t node;
	int8_t leaves; /* its value by which the loop is left, -1: not known */
	bool strict;   /* to leave, others must have their values as well */
	uint16_t way;  /* number of the way out */
};

struct wsi_loop {
	const struct ws_flow *flow;
	struct ws_flow_loop *found;
	struct wsi_reach reach;
	uint32_t *parent; /* owned; by block: one more than the block it was reached from */
	bool *inside;     /* owned; by block */
	size_t n_insns;   /* of the loop: so many nodes, conditions and ways out there can be */
	struct wsi_loop_node *node; /* owned */
	size_t n_nodes;
	struct wsi_loop_edge *edge; /* owned */
	size_t n_edges, cap_edges;
	bool lost; /* more edges than fit */
	/* rows of bits, by node: the other node's result is used; through what is opaque too */
	uint32_t *reaches, *behind;         /* owned */
	size_t row;                         /* words of one */
	struct wsi_loop_condition *pending; /* owned; each node at most once */
	size_t n_pending;
	bool *seen;       /* owned; by node: conditions that were looked at */
	uint32_t header;  /* block by which the loop is entered; UINT32_MAX: not known */
	uint32_t n_walks; /* `parent` has the number of the last one that came by */
	uint16_t n_ways;  /* out of the loop */
	struct {
		size_t at; /* the instruction that leaves */
		bool reads, limits;
	} * way; /* owned */

	/* condition.c */
	size_t read_at; /* of the first compare: what reads its number */
	uint8_t *words; /* owned; by way out: numbers of the read that are compared */
	bool each, any; /* how conditions are joined, where they are */
	bool no_test;   /* the loop is not left by comparisons alone */
};

/* The node of an instruction of the loop. */
struct wsi_loop_node *wsi_loop_node_at(struct wsi_loop *s, size_t at);
bool wsi_loop_is_shuffle(const struct wsi_loop *s, size_t at);
bool wsi_loop_is_copy(const struct wsi_loop *s, size_t at);

/* Conditions that one instruction joins, besides its own comparison. */
struct wsi_loop_join {
	struct {
		uint16_t node;
		int8_t leaves;
	} input[WSI_LOOP_INPUTS];
	size_t n;
	int8_t leaves; /* of its own comparison */
	bool logic;    /* it has none */
	bool strict;   /* all of them must have their values for the loop to be left */
};

/* What an instruction that sets a predicate joins, where the loop is left by the value `leaves`. */
void wsi_loop_join(struct wsi_loop *s, const struct wsi_loop_node *node, int leaves,
		   struct wsi_loop_join *ret_join);
/* The compare of the lower halves that belongs to one of upper halves, or NULL. */
const struct wsi_loop_node *wsi_loop_lower(struct wsi_loop *s, const struct wsi_loop_node *upper);
/* Takes the comparison of a condition that only what was read decides into what was found. */
void wsi_loop_compare(struct wsi_loop *s, const struct wsi_loop_node *node,
		      const struct wsi_loop_condition *condition, int leaves);
/* All conditions were looked at. */
void wsi_loop_compared(struct wsi_loop *s);

#endif
