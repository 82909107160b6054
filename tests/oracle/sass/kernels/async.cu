// Asynchronous copies, mbarriers, clusters, tensor memory accelerator.

__global__ void ampere_copies(unsigned s, const char *g, int n)
{
#if __CUDA_ARCH__ >= 800
	asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(s), "l"(g));
	asm volatile("cp.async.ca.shared.global [%0 + 8], [%1 + 16], 8;" ::"r"(s), "l"(g));
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(g));
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(s), "l"(g), "r"(n));
	asm volatile("{.reg .pred p; setp.ne.b32 p, %2, 0; cp.async.ca.shared.global [%0], [%1], 16, p;}" ::"r"(s), "l"(g), "r"(n));
	asm volatile("cp.async.commit_group;");
	asm volatile("cp.async.wait_group 2;");
	asm volatile("cp.async.wait_all;");
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(s), "r"(n));
	asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(s));
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(s));
	unsigned long long state;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(s));
	asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;" : "=l"(state) : "r"(s), "r"(n));
	asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(s));
	asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%0], %1; @p bra done; st.shared.u32 [%0], 1; done:}" ::"r"(s), "l"(state));
	asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(n) : "l"(state));
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(s));
	*(volatile int *)g = n;
#endif
}

#if __CUDA_ARCH__ >= 900
#define A(...) asm volatile(__VA_ARGS__)
__global__ void hopper(unsigned s, char *g, const char *map, int n, int x, int y, int z)
{
	unsigned long long state;
	unsigned r;
	A("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(s));
	A("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(state) : "r"(s), "r"(n));
	A("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(s), "r"(n));
	A("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(s), "r"(n));
	A("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(s), "r"(n));
	A("{.reg .pred p; again: mbarrier.try_wait.shared::cta.b64 p, [%0], %1; @!p bra again;}" ::"r"(s), "l"(state));
	A("{.reg .pred p; more: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1, 100; @!p bra more;}" ::"r"(s), "r"(n));
	A("{.reg .pred p; once: mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra once;}" ::"r"(s), "r"(n));
	A("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(s));
	A("barrier.cluster.arrive.aligned;");
	A("barrier.cluster.wait.aligned;");
	A("barrier.cluster.arrive.relaxed;");
	A("barrier.cluster.wait.acquire;");
	A("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(s), "r"(n));
	A("getctarank.shared::cluster.u32 %0, %1;" : "=r"(x) : "r"(r));
	A("ld.shared::cluster.u32 %0, [%1];" : "=r"(y) : "r"(r));
	A("st.shared::cluster.u32 [%0], %1;" ::"r"(r), "r"(y));
	A("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(y) : "r"(r), "r"(x));
	A("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(r), "r"(y), "r"(s));
	A("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(r), "r"(y), "r"(s));
	A("st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %1, %1, %1}, [%2];" ::"r"(r), "r"(y), "r"(s));
	A("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s), "l"(g), "r"(n), "r"(s));
	A("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(s), "l"(g), "r"(n), "r"(s), "h"((short)n));
	A("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(n));
	A("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(r), "r"(s), "r"(n), "r"(r));
	A("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(n));
	A("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s64 [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(n));
	A("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;" ::"l"(g), "r"(s), "r"(n));
	A("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%0], [%1], %2, [%3];" ::"r"(r), "r"(s), "r"(n), "r"(r));
	A("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(g), "r"(n));
	A("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2}], [%3];" ::"r"(s), "l"(map), "r"(x), "r"(s));
	A("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(s), "l"(map), "r"(x), "r"(y), "r"(s), "h"((short)n));
	A("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5], {%6};" ::"r"(s), "l"(map), "r"(x), "r"(y), "r"(z), "r"(s), "h"((short)n));
	A("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %2, %3}], [%5];" ::"r"(s), "l"(map), "r"(x), "r"(y), "r"(z), "r"(s));
	A("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(s));
	A("cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [%0, {%1, %2, %3, %1}], [%4];" ::"l"(map), "r"(x), "r"(y), "r"(z), "r"(s));
	A("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(s));
	A("cp.reduce.async.bulk.tensor.2d.global.shared::cta.xor.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(x), "r"(y), "r"(s));
	A("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(x), "r"(y));
	A("cp.async.bulk.commit_group;");
	A("cp.async.bulk.wait_group 3;");
	A("cp.async.bulk.wait_group.read 0;");
	A("prefetch.tensormap [%0];" ::"l"(map));
	A("griddepcontrol.launch_dependents;");
	A("griddepcontrol.wait;");
	A("multimem.ld_reduce.relaxed.gpu.global.add.f32 %0, [%1];" : "=r"(z) : "l"(g));
	A("multimem.st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(g), "r"(z));
	A("multimem.red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(g), "r"(z));
	A("multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {%0, %0, %0, %0}, [%1];" : "=r"(z) : "l"(g));
	A("{.reg .pred p; elect.sync _|p, 0xffffffff; @p st.global.u32 [%0], 7;}" ::"l"(g));
	unsigned cx, cr, nc;
	A("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(cx));
	A("mov.u32 %0, %%cluster_ctarank;" : "=r"(cr));
	A("mov.u32 %0, %%cluster_nctarank;" : "=r"(nc));
	*(volatile int *)g = (int)(y + z + cx + cr + nc);
#if __CUDA_ARCH__ >= 1000
	A("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(s), "r"(s));
	A("{.reg .b128 t; .reg .pred p; mov.b128 t, {%1, %1}; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, t; selp.u32 %0, 1, 0, p;}" : "=r"(r) : "l"(state));
	*(volatile int *)g = r;
#endif
}
#endif
