/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: ops that are done again and again. A node is an op with those that come before it. */
#ifndef WARPSCOPE_DRIVER_GRAPH_H
#define WARPSCOPE_DRIVER_GRAPH_H

#include "driver.h"

struct node {
	enum magic magic;
	struct graph *graph;
	struct node *from;   /* what it is a copy of, or NULL */
	struct driver_op op; /* what it owns is copied for each launch */
	struct node **before;
	size_t n_before;
	struct graph *child;    /* owned; of a child */
	CUDA_MEMCPY3D copy;     /* of a copy, if the program gave it */
	void **params;          /* owned: what was told of a kernel's parameters */
	bool is_off;            /* of an executable graph */
	size_t number, n_waits; /* for a walk over its graph */
};

struct graph {
	enum magic magic;
	struct node **nodes; /* owned */
	size_t n, cap;
	unsigned long long flags; /* of an executable one */
};

struct graph *graph_create(void);
/* NULL is fine. */
void graph_destroy(struct graph *graph);
/* Adds a node, which takes what the op owns, also if that fails. */
CUresult graph_add(struct graph *graph, CUgraphNode *ret_node, const CUgraphNode *before, size_t n,
		   const struct driver_op *op);
/* A copy, with what it owns. False: no memory. */
bool op_clone(const struct driver_op *op, struct driver_op *ret_op);
/* A copy; NULL: no memory. */
struct graph *graph_clone(const struct graph *graph);
/* Puts nodes in an order in which each comes after those before it. False: there is none. */
bool graph_sort(struct graph *graph);
/* Whether nothing comes after a node. */
bool node_is_last(const struct node *node);
/* The node of a copy of a graph that is one of the graph; NULL: none. */
struct node *node_in(const struct graph *copy, const struct node *node);

#endif
