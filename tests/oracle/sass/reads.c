/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the table's roles and widths are those that the compiler had in mind: in compiled code
 * every register that is read was written before on some path, hardly any write is never read, and
 * vectors start at multiples of their size.
 *
 *     sass-reads [-a] CUBIN...
 *
 * Prints a line for each form of an instruction and operand for which that is not so:
 *
 *     never|dead|odd BAD of ALL  NAME.MODIFIERS operand.element  sm_NN FILE FUNCTION+0xPC
 *
 * never: read, but written on no path from the entry; dead: written, but read on no path to the
 * exit; odd: a vector whose number is not a multiple of its size, or behind the function's last
 * register (a function that asks for more as it runs, by USETMAXREG, has none). With -a also the
 * lines of operands without a fault. What a function cannot tell (its arguments, what its callees
 * and its caller read) counts as written and as read. The exit status is 1 when there is a line
 * `never` or `odd`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <warpscope/cubin.h>
#include <warpscope/flow.h>
#include <warpscope/sass.h>

/* ---- sets of registers ---- */

enum {
	FIRST_UREG = 256,
	FIRST_PRED = 512,
	FIRST_UPRED = 520,
	FIRST_BREG = 528,
	N_BREGS = 16,
	N_SLOTS = FIRST_BREG + N_BREGS,
	WORDS = (N_SLOTS + 63) / 64,
	NO_SLOT = N_SLOTS,
};

struct set {
	uint64_t word[WORDS];
};

static const struct set none;

static struct set all(void)
{
	struct set set;
	memset(&set, 0xff, sizeof set);
	return set;
}

static bool has(const struct set *set, unsigned slot)
{
	return set->word[slot / 64] >> slot % 64 & 1;
}

static void add(struct set *set, unsigned slot)
{
	set->word[slot / 64] |= UINT64_C(1) << slot % 64;
}

static void drop(struct set *set, unsigned slot)
{
	set->word[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* Returns whether `set` grew. */
static bool join(struct set *set, const struct set *other)
{
	bool grew = false;
	for (size_t i = 0; i < WORDS; i++) {
		grew |= (other->word[i] & ~set->word[i]) != 0;
		set->word[i] |= other->word[i];
	}
	return grew;
}

/* Place of a register in a set; NO_SLOT for one that always has the same value, and for others. */
static unsigned slot_of(enum ws_operand_kind kind, unsigned number)
{
	if (ws_operand_is_register(kind) && ws_operand_is_fixed(kind, number))
		return NO_SLOT;
	return kind == WS_OPERAND_REG                        ? number
	       : kind == WS_OPERAND_UREG                     ? FIRST_UREG + number
	       : kind == WS_OPERAND_PRED                     ? FIRST_PRED + number
	       : kind == WS_OPERAND_UPRED                    ? FIRST_UPRED + number
	       : kind == WS_OPERAND_BREG && number < N_BREGS ? FIRST_BREG + number
							     : NO_SLOT;
}

/* Place of an instruction's guard. */
static unsigned guard_of(const struct ws_insn *insn)
{
	return slot_of(insn->flags & WS_SASS_UNIFORM_GUARD ? WS_OPERAND_UPRED : WS_OPERAND_PRED,
		       insn->guard);
}

/* ---- counts ---- */

enum fault { NEVER, DEAD, ODD, FAULTS };

static const char *const fault_names[FAULTS] = { "never", "dead", "odd" };

struct count {
	char *key;
	uint64_t all, bad;
	char example[512];
};

static struct count *counts;
static size_t n_counts, cap_counts;

static void must(bool ok)
{
	if (!ok) {
		fprintf(stderr, "sass-reads: out of memory\n");
		exit(2);
	}
}

static struct count *find(const char *key)
{
	uint64_t hash = UINT64_C(14695981039346656037);
	for (const char *c = key; *c; c++)
		hash = (hash ^ (uint8_t)*c) * UINT64_C(1099511628211);
	size_t at = cap_counts ? hash % cap_counts : 0;
	while (cap_counts && counts[at].key) {
		if (strcmp(counts[at].key, key) == 0)
			return &counts[at];
		at = (at + 1) % cap_counts;
	}
	if (2 * n_counts >= cap_counts) {
		struct count *old = counts;
		size_t n_old = cap_counts;
		cap_counts = cap_counts ? 2 * cap_counts : 4096;
		counts = calloc(cap_counts, sizeof *counts);
		must(counts);
		n_counts = 0;
		for (size_t i = 0; i < n_old; i++)
			if (old[i].key) {
				struct count *moved = find(old[i].key);
				free(moved->key);
				*moved = old[i];
			}
		free(old);
		return find(key);
	}
	counts[at].key = strdup(key);
	must(counts[at].key);
	n_counts++;
	return &counts[at];
}

/* ---- one instruction ---- */

struct function {
	const char *file;
	struct ws_str name;
	unsigned sm, n_regs;
	const uint8_t *code;
	const struct ws_flow *flow;
	const struct ws_flow_block *blocks;
	size_t n_blocks;
	struct set *before, *after; /* by block: written at its start, read from its end on */
	uint64_t open, lost;
};

static void name_of(const struct ws_insn *insn, char *text, size_t size)
{
	enum ws_modifier mods[WS_SASS_MAX_MODIFIERS];
	size_t n = ws_sass_modifiers(insn, mods, WS_SASS_MAX_MODIFIERS);
	size_t len = (size_t)snprintf(text, size, "%03" PRIx64 " %s", ws_insn_bits(insn, 0, 12),
				      ws_sass_operation_name(insn->operation));
	for (size_t i = 0; i < n && len < size; i++)
		len += (size_t)snprintf(text + len, size - len, ".%s",
					ws_sass_modifier_name(mods[i]));
}

static void note(const struct function *f, const struct ws_insn *insn, uint64_t pc,
		 enum fault fault, const char *what, bool bad)
{
	char name[256], key[400];
	name_of(insn, name, sizeof name);
	snprintf(key, sizeof key, "%s\t%s\t%s", fault_names[fault], name, what);
	struct count *count = find(key);
	count->all++;
	if (bad && count->bad++ == 0)
		snprintf(count->example, sizeof count->example, "sm_%u %s %.*s+0x%" PRIx64, f->sm,
			 f->file, (int)(f->name.len < 200 ? f->name.len : 200), f->name.ptr, pc);
}

static bool reads(const struct ws_operand *op)
{
	return op->role != WS_ROLE_WRITTEN;
}

static bool writes(const struct ws_operand *op)
{
	return op->role == WS_ROLE_WRITTEN || op->role == WS_ROLE_UPDATED;
}

/* Registers of an operand, at least one. */
static unsigned width(const struct ws_operand *op)
{
	return op->count ? op->count : 1;
}

/* Of all predicates, which a mask selects from, none must have been written. Of a permutation's
 * last source no byte may be wanted, or only the bytes that stay undefined. */
static bool may_be_undefined(const struct ws_insn *insn, const struct ws_operand *op)
{
	bool prmt = ws_sass_plain_operation(insn->operation) == WS_OP_PRMT;
	return (ws_operand_is_predicate(op->kind) && op->count > 1) || (prmt && op->place == 3);
}

/* One step forwards through an instruction; with `tell`, what it reads is looked up first. */
static void forward(const struct function *f, const struct ws_insn *insn, uint64_t pc,
		    struct set *written, bool tell)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	char what[64];
	if (insn->guard == 7 && insn->guard_negated)
		return; /* never executed */
	size_t n = ws_sass_operands(insn, pc, ops, WS_SASS_MAX_OPERANDS);
	if (tell && insn->guard < 7)
		note(f, insn, pc, NEVER, "guard", !has(written, guard_of(insn)));
	for (size_t i = 0; tell && i < n; i++)
		for (unsigned k = 0; reads(&ops[i]) && k < width(&ops[i]); k++) {
			unsigned slot = slot_of(ops[i].kind, ops[i].number + k);
			if (slot == NO_SLOT || may_be_undefined(insn, &ops[i]))
				break;
			snprintf(what, sizeof what, "%zu.%u of %u", i, k, ops[i].count);
			note(f, insn, pc, NEVER, what, !has(written, slot));
		}
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; writes(&ops[i]) && k < width(&ops[i]); k++) {
			unsigned slot = slot_of(ops[i].kind, ops[i].number + k);
			if (slot != NO_SLOT)
				add(written, slot);
		}
	if (!insn->known)
		*written = all();
}

static void look_at_vectors(struct function *f, const struct ws_insn *insn, uint64_t pc)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	char what[64];
	size_t n = ws_sass_operands(insn, pc, ops, WS_SASS_MAX_OPERANDS);
	for (size_t i = 0; i < n; i++) {
		bool reg = ops[i].kind == WS_OPERAND_REG;
		if ((!reg && ops[i].kind != WS_OPERAND_UREG) || ops[i].number >= 255)
			continue;
		unsigned count = ops[i].count, multiple = count > 2 ? 4 : count;
		f->open += count == 0;
		if (count < 2)
			continue;
		bool behind = reg && ops[i].number + count > f->n_regs;
		snprintf(what, sizeof what, "%zu of %u", i, count);
		note(f, insn, pc, ODD, what, ops[i].number % multiple != 0 || behind);
	}
}

/* Registers that a function may name. */
static unsigned last_register(const struct ws_function *function, unsigned sm, struct ws_span code)
{
	for (size_t at = 0; at + WS_SASS_BYTES <= code.len; at += WS_SASS_BYTES) {
		struct ws_insn insn;
		ws_sass_decode(sm, code.ptr + at, &insn);
		if (insn.known && insn.operation == WS_OP_USETMAXREG)
			return 255;
	}
	return function->n_regs;
}

/* One step backwards; with `tell`, what it writes is looked up first. */
static void backward(const struct function *f, const struct ws_insn *insn, uint64_t pc,
		     struct set *read, bool tell)
{
	struct ws_operand ops[WS_SASS_MAX_OPERANDS];
	char what[64];
	if (insn->guard == 7 && insn->guard_negated)
		return;
	size_t n = ws_sass_operands(insn, pc, ops, WS_SASS_MAX_OPERANDS);
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; writes(&ops[i]) && k < width(&ops[i]); k++) {
			unsigned slot = slot_of(ops[i].kind, ops[i].number + k);
			if (slot == NO_SLOT)
				continue;
			snprintf(what, sizeof what, "%zu.%u of %u", i, k, ops[i].count);
			if (tell)
				note(f, insn, pc, DEAD, what, !has(read, slot));
		}
	for (size_t i = 0; i < n && insn->guard == 7; i++)
		for (unsigned k = 0; writes(&ops[i]) && k < ops[i].count; k++) {
			unsigned slot = slot_of(ops[i].kind, ops[i].number + k);
			if (slot != NO_SLOT)
				drop(read, slot);
		}
	for (size_t i = 0; i < n; i++)
		for (unsigned k = 0; reads(&ops[i]) && k < width(&ops[i]); k++) {
			unsigned slot = slot_of(ops[i].kind, ops[i].number + k);
			if (slot != NO_SLOT)
				add(read, slot);
		}
	if (insn->guard < 7)
		add(read, guard_of(insn));
	if (!insn->known)
		*read = all();
}

/* ---- one function ---- */

static struct ws_insn insn_at(const struct function *f, uint64_t pc)
{
	struct ws_insn insn;
	ws_sass_decode(f->sm, f->code + pc, &insn);
	return insn;
}

static struct set through(struct function *f, size_t b, bool tell)
{
	struct set set = f->before[b];
	for (uint64_t pc = f->blocks[b].pc; pc < f->blocks[b].end_pc; pc += WS_SASS_BYTES) {
		struct ws_insn insn = insn_at(f, pc);
		forward(f, &insn, pc, &set, tell);
		if (tell) {
			look_at_vectors(f, &insn, pc);
			f->lost += !insn.known;
		}
	}
	return set;
}

static struct set back(struct function *f, size_t b, bool tell)
{
	struct set set = f->after[b];
	for (uint64_t pc = f->blocks[b].end_pc; pc > f->blocks[b].pc;) {
		pc -= WS_SASS_BYTES;
		struct ws_insn insn = insn_at(f, pc);
		backward(f, &insn, pc, &set, tell);
	}
	return set;
}

static void spread_writes(struct function *f)
{
	struct set everything = all();
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t b = 0; b < f->n_blocks; b++) {
			const struct ws_flow_block *block = &f->blocks[b];
			struct set out =
				block->flags & WS_FLOW_CALLS ? everything : through(f, b, false);
			for (size_t i = 0; i < block->n_succ; i++)
				changed |= join(&f->before[block->succ[i]], &out);
		}
	}
}

static void spread_reads(struct function *f)
{
	struct set everything = all();
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t b = f->n_blocks; b-- > 0;) {
			const struct ws_flow_block *block = &f->blocks[b];
			if (block->flags & (WS_FLOW_CALLS | WS_FLOW_RETURNS | WS_FLOW_LEAVES |
					    WS_FLOW_OPEN | WS_FLOW_RUNS_OUT))
				changed |= join(&f->after[b], &everything);
			struct set in = back(f, b, false);
			for (size_t i = 0; i < block->n_pred; i++)
				changed |= join(&f->after[block->pred[i]], &in);
		}
	}
}

static void look_at(struct function *f, bool is_kernel)
{
	f->before = calloc(f->n_blocks + 1, sizeof *f->before);
	f->after = calloc(f->n_blocks + 1, sizeof *f->after);
	must(f->before && f->after);
	for (size_t b = 0; b < f->n_blocks; b++) {
		uint32_t flags = f->blocks[b].flags;
		bool entry = flags & WS_FLOW_ENTRY && is_kernel;
		f->before[b] = (flags & (WS_FLOW_ENTRY | WS_FLOW_CALLED)) && !entry ? all() : none;
		if (flags & WS_FLOW_OPEN)
			goto out; /* the way on is not known */
	}
	spread_writes(f);
	spread_reads(f);
	for (size_t b = 0; b < f->n_blocks; b++)
		if (!(f->blocks[b].flags & WS_FLOW_UNREACHED)) {
			(void)through(f, b, true);
			(void)back(f, b, true);
		}
out:
	free(f->before);
	free(f->after);
}

/* ---- files ---- */

static uint64_t n_functions, n_unknown, n_instructions, n_lost;

static void look_at_cubin(const char *file, struct ws_cubin *cubin)
{
	const struct ws_function *functions;
	struct ws_cubin_facts facts;
	size_t n;
	ws_cubin_facts(cubin, &facts);
	if (ws_cubin_functions(cubin, &functions, &n, NULL) != WS_OK)
		return;
	for (size_t i = 0; i < n; i++) {
		struct ws_function whole = functions[i];
		struct ws_flow *flow;
		struct ws_span code;
		if (whole.section == 0 || whole.is_inner)
			continue;
		whole.size_bytes = 0; /* with the functions that lie behind it */
		if (ws_cubin_code(cubin, &whole, &code, NULL) != WS_OK ||
		    ws_cubin_flow(cubin, &whole, 0, &flow, NULL) != WS_OK)
			continue;
		struct function f = { .file = file,
				      .name = whole.name,
				      .sm = facts.sm,
				      .n_regs = last_register(&whole, facts.sm, code),
				      .code = code.ptr,
				      .flow = flow };
		f.blocks = ws_flow_blocks(flow, &f.n_blocks);
		look_at(&f, whole.is_kernel);
		n_functions++;
		n_unknown += f.open;
		n_lost += f.lost;
		n_instructions += code.len / WS_SASS_BYTES;
		ws_flow_destroy(flow);
	}
}

static void *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	size_t n = 0, cap = 0;
	while (file && !feof(file) && !ferror(file)) {
		if (n == cap) {
			cap = cap ? 2 * cap : 1 << 16;
			bytes = realloc(bytes, cap);
			must(bytes);
		}
		n += fread(bytes + n, 1, cap - n, file);
	}
	if (file)
		fclose(file);
	*ret_size = n;
	return bytes;
}

static int by_badness(const void *a, const void *b)
{
	const struct count *x = a, *y = b;
	if (!x->key || !y->key)
		return !x->key - !y->key;
	return x->bad != y->bad ? (x->bad < y->bad) - (x->bad > y->bad) : strcmp(x->key, y->key);
}

int main(int argc, char **argv)
{
	bool everything = argc > 1 && strcmp(argv[1], "-a") == 0, fault = false;
	for (int i = 1 + everything; i < argc; i++) {
		size_t size;
		void *bytes = read_file(argv[i], &size);
		struct ws_cubin *cubin;
		if (ws_cubin_open((struct ws_span){ .ptr = bytes, .len = size }, &cubin, NULL) ==
		    WS_OK) {
			look_at_cubin(argv[i], cubin);
			ws_cubin_close(cubin);
		} else {
			fprintf(stderr, "sass-reads: %s is no cubin\n", argv[i]);
		}
		free(bytes);
	}
	if (counts)
		qsort(counts, cap_counts, sizeof *counts, by_badness);
	for (size_t i = 0; i < n_counts; i++) {
		fault |= counts[i].bad && strncmp(counts[i].key, "dead", 4) != 0;
		if (counts[i].bad || everything)
			printf("%" PRIu64 " of %" PRIu64 "\t%s\t%s\n", counts[i].bad, counts[i].all,
			       counts[i].key, counts[i].example);
		free(counts[i].key);
	}
	free(counts);
	printf("# %" PRIu64 " functions, %" PRIu64 " instructions, %" PRIu64
	       " without a row, %" PRIu64 " operands of unknown width\n",
	       n_functions, n_instructions, n_lost, n_unknown);
	return fault;
}
