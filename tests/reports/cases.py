"""What went wrong in public reports, and what the first screen of a report must say when our own kernels go wrong in the same way.

A case is written down before anybody looks at what the program says of it. Its words are not weakened to pass.
"""
import re
import struct

# What a sentence of the page says the cause is. A sentence may name several.
FAMILIES = {name: re.compile(words, re.IGNORECASE) for name, words in {
    # illegal addresses
    'overflow': r'overflow(s|ed)? (of )?(32|an int)|(?<!or )32[- ]bit[^.;]*(overflow|wrap)|(overflow|wrap)[^.;]*32[- ]bit|'
                r'does not fit (in )?(32 bits|an? int)|exceeds (32 bits|INT_MAX)',
    'maybe_overflow': r'or 32-bit arithmetic',  # one of two that the sentence offers
    'loaded': r'index[^.;]*(read|loaded|comes|taken) from memory|\belement \d+ of [^.;]*(holds|is) ',
    'negative': r'negative (index|offset)|index[^.;]* is negative|negative[^.;]*index',
    'unsigned': r'unsigned[^.;]*(wrapped|wraps|below 0|below zero)',
    'bounds': r'bounds check is missing or wrong|goes a little past the end|buffer is smaller than|past the end of the buffer: ',
    'stride': r'\bstride\b|\bpitch\b|size parameter is wrong',
    'lost': r'freed before|(is|points? to) host memory|pointer is stale|memory that is not there',
    'lost_member': r'pointer in memory points to memory that is not there|pointer[^.;]*in memory[^.;]*(freed|host)',
    'garbage': r'pointer (or index )?(in memory )?is garbage|index is garbage|is garbage or',
    'cut': r'(cut|truncated)[^.;]*32 bits|(upper|high) (half|32 bits)[^.;]*(lost|missing|cut)|low(er)? 32 bits of',
    'null_param': r'null pointer was passed',
    'null_member': r'pointer in memory is null',
    'null_other': r'null pointer plus|null pointer that',
    'malloc': r'malloc[^.;]*(null|fail)|heap[^.;]*(full|used up|exhausted)',
    # misaligned
    'align_offset': r'offset by less than the width|wrong number of elements|pointer[^.;]* is not (aligned|a multiple)',
    'align_stride': r'odd stride|(stride|pitch|row)[^.;]* not a multiple of',
    'align_cast': r'wider type than it is aligned|\ba cast\b|(address|copy)[^.;]* (must be|not) (aligned|a multiple of) ',
    # shared memory, stack
    'shared_size': r'dynamic shared memory',
    'shared_index': r'index past the end of shared memory',
    'recursion': r'recursion',
    'stack_size': r'stack limit|stack of a thread is used up|local arrays too large|more stack than',
    # stops
    'assert': r'assertion[^.;]* failed',
    'trap': r'`?__trap\(\)',
    'gave_up': r'(wait|poll)[^.;]*(timed out|gave up|given up|bound|limit)|(timed out|gave up)[^.;]*wait',
    'mask': r'mask[^.;]*(lane|caller|thread|itself|it is not in|does not|lacks)',
    'no_mask': r'a mask is missing',
    'mask_size': r'mask is wrong, or the tensor smaller',
    'virtual': r'virtual call on an object that the host constructed',
    # clusters and copies
    'peer_gone': r'other block had ended|block[^.;]*(left|ended|exited)[^.;]*cluster|cluster barrier before the end',
    'map_zero': r'tensor map was never filled in|tensor map is (all )?zero',
    'tile_odd': r'shared memory[^.;]* is not (aligned|a multiple)',
}.items()}


class Case:
    """One report, and what our kernel must get.

    report: where it is; cause: what the people there found, in our words; image: fatbin; run: words of `warpscope run` (`low:NAME`:
    the lower 32 bits of a buffer's address); right: families of which one must be named on the first screen; fine: others that are
    as true if they are said; says: expressions of which all must be on the first screen; never: expressions that must not be
    there; line: text of the source line that the headline names; archs: where it runs; files: their bytes, or a function that makes
    them from the addresses of buffers; debug: it goes wrong with -G, too."""

    def __init__(self, report, cause, image, run, right=(), fine=(), says=(), never=(), line=None, archs=(80, 90, 100, 120), files=None,
                 debug=True):
        self.report, self.cause, self.image, self.run = report, cause, image, run.split()
        self.right, self.fine, self.says, self.never = set(right.split()) if right else set(), set(fine.split()) if fine else set(), says, never
        self.line, self.archs, self.files, self.debug = line, archs, files or {}, debug


def words(kind, numbers):
    return struct.pack(f'<{len(numbers)}{kind}', *numbers)


HOPPER = (90, 100, 120)
OWN = 'our own'
HOST_HEAP, HOST_STACK, FREED = 0x55d0c8a3e2a0, 0x7ffe1601f310, 0x7f33a2000000

CASES = {
    # ---- arithmetic of 32 bits ----
    'onnxruntime_28107': Case(
        'microsoft/onnxruntime#28107', 'the offset of a row in a table of 2.3 billion elements is an int', 'overflow',
        '--memory 12000000000 --grid 35 --block 256 --buffer t=f32[2348810240] --buffer i=s64[1]:255999 --buffer o=f32[8960] '
        '--arg &t --arg &i --arg &o --arg 8960 --arg 1', 'overflow'),
    'tinygrad_8268': Case(
        'tinygrad/tinygrad#8268', 'generated code multiplies block numbers with strides in int', 'overflow',
        '--memory 3000000000 --grid 1,58 --block 3,16 --buffer o=s8[2189426688] --buffer i=s8[262144] --arg &o --arg &i', 'overflow'),
    'cuml_7587': Case(
        'NVIDIA/cuml#7587', 'the step of a grid-stride loop makes the int row negative, and the loop goes on', 'overflow',
        '--memory 3000000000 --block 32 --buffer w=u8[2147483000] --buffer h=s32[32] --arg &w --arg &h --arg 2147483000 --arg 33554432',
        'overflow maybe_overflow', 'bounds'),  # some of the code that nvcc makes of it counts in 64 bits
    'sageattention_387': Case(
        'thu-ml/SageAttention#387', 'sequence index times stride in 32 bits, for a view into fused q, k and v', 'overflow',
        '--memory 5000000000 --max-instructions 5000000 --grid 1570 --block 64 --buffer q=u16[2150400000] --buffer o=s8[64] --arg &q --arg &o --arg 21504 --arg 128 '
        '--arg 100000 --arg 3', 'overflow'),
    'transformerengine_2918': Case(
        'NVIDIA/TransformerEngine#2918', 'a number of elements beyond 2^31 is kept in an int, and becomes negative', 'overflow',
        '--memory 12000000000 --block 32 --buffer x=f32[2476250368] --buffer n=f32[32] --arg @tensors --arg &n --arg 1', 'overflow negative',
        files={'tensors': lambda at: struct.pack('<4Q4i', at['n'], at['x'], 0, 0, 32, 2476250368 - 2**32, 0, 0)}),
    'mslk_303': Case(
        'meta-pytorch/MSLK#303', 'row index times stride in int32 for sequences of two million', 'overflow',
        '--memory 6000000000 --grid 1030 --block 32,1 --buffer g=u16[2162688000] --buffer o=f32[32] --arg &g --arg &o --arg 2048 --arg 1024',
        'overflow'),
    'flaggems_4153': Case(
        'flagos-ai/FlagGems#4153', 'Triton: an int32 index times a stride of 131072 elements', 'flaggems_4153',
        '--memory 14000000000 --block 128 --buffer o=f32[128] --buffer s=f32[3263823872] --buffer i=s32[1]:16385 --arg &o --arg &s --arg &i '
        '--arg 131072 --arg 128 --arg 0 --arg 0', 'overflow'),
    'megablocks_185': Case(
        'databricks/megablocks#185', 'Triton: the offset of a token times the number of columns in int32', 'megablocks_185',
        '--memory 6000000000 --block 128 --buffer a=u16[2457600000] --buffer b=s32[1]:530000 --buffer o=u16[4096] --arg &a --arg &b --arg &o --arg 0 --arg 0',
        'overflow'),
    'triton_6748': Case(
        'triton-lang/triton#6748', 'Triton: rows times a stride from a parameter, all in int32', 'triton_6748',
        '--memory 18000000000 --grid 8 --block 128 --buffer p=f32[4294967296] --arg &p --arg 16777216 --arg 256 --arg 32 --arg 0 --arg 0', 'overflow'),

    # ---- indices from memory ----
    'vllm_50845': Case(
        'vllm-project/vllm#50845', 'slots that the router never wrote hold garbage expert ids', 'index',
        '--block 64 --buffer t=s32@topk --buffer m=s32[256]:index --buffer l=s32[64] --arg &t --arg &m --arg &l --arg 64', 'loaded', 'garbage',
        files={'topk': words('i', [i % 256 if i != 37 else 0x3f0a2c11 for i in range(64)])}),
    'vllm_xpu_kernels_571': Case(
        'vllm-project/vllm-xpu-kernels#571', 'an expert id of -1 for padding is used as an index', 'index',
        '--block 64 --buffer t=s32@topk --buffer c=s32[128] --arg &t --arg &c --arg 64 --arg 128', 'loaded negative',
        files={'topk': words('i', [i if i < 40 else -1 for i in range(64)])}),
    'sparkinfer_152': Case(
        'gittensor-ai-lab/sparkinfer#152', 'an unused slot of the block table holds -1', 'index',
        '--grid 2 --block 64 --buffer t=s32@table --buffer p=s32[2]:20 --buffer k=f32[256] --buffer c=f32[16384] --arg &t --arg &p --arg &k '
        '--arg &c --arg 4 --arg 16 --arg 128', 'loaded negative', files={'table': words('i', [3, -1, -1, -1, 2, 5, -1, -1])}),
    'sglang_3339': Case(
        'sgl-project/sglang#3339', 'sums that were never computed are added to an index', 'index',
        '--block 64 --buffer t=s32[64]:3 --buffer s=s32[128]:517033301 --buffer o=s32[4096] --arg &t --arg &s --arg &o --arg 64', 'loaded', 'garbage'),
    'triton_xpu_7327': Case(
        'intel/intel-xpu-backend-for-triton#7327', 'ids of tokens are passed where ids of experts are expected', 'index',
        '--memory 3000000000 --block 32 --buffer b=f32[335544320] --buffer e=s32[1]:6515 --buffer o=f32[32] --arg &b --arg &e --arg &o '
        '--arg 20971520 --arg 64', 'loaded', 'garbage'),
    'candle_2908': Case(
        'huggingface/candle#2908', 'the kernels that take indices do not check them: a token is one past the vocabulary', 'index',
        '--block 32 --buffer w=f32[64000] --buffer t=s64[1]:1000 --buffer o=f32[64] --arg &w --arg &t --arg &o --arg 64', 'loaded'),
    'unet_375': Case(
        'milesial/Pytorch-UNet#375', 'masks hold the value 255, there are two classes', 'index',
        '--block 64 --buffer l=f32[8192] --buffer t=u8@mask --buffer o=f32[64] --arg &l --arg &t --arg &o --arg 2 --arg 4096', 'loaded', 'garbage',
        files={'mask': bytes([0, 1] * 30 + [255, 1, 255, 0])}),
    'vllm_53982': Case(
        'vllm-project/vllm#53982', 'Triton: a row of the block table is narrower than the sequence', 'vllm_53982',
        '--block 128 --buffer t=s32[16] --buffer p=s32[128]:8000 --buffer s=s64[128] --arg &t --arg &p --arg &s --arg 16 --arg 64 --arg 128 --arg 0 --arg 0',
        'loaded mask_size'),
    'tokenspeed_709': Case(
        'lightseekorg/tokenspeed#709', 'Triton: a page of -1 makes a slot below the pool', 'tokenspeed_709',
        '--block 128 --buffer p=s32[1]:-1 --buffer q=s32[1]:5 --buffer k=f32[128] --buffer c=f32[65536] --arg &p --arg &q --arg &k --arg &c '
        '--arg 256 --arg 128 --arg 0 --arg 0', 'loaded negative'),
    'stixels_7': Case(
        'dhernandez0/stixels#7', 'a number slightly below zero is rounded down to -1', 'bounds',
        '--block 32 --buffer f=f32@fractions --buffer l=f32[64] --buffer o=f32[32] --arg &f --arg &l --arg &o --arg 32', 'negative loaded',
        files={'fractions': words('f', [i if i != 9 else -1e-5 for i in range(32)])}),

    # ---- bounds ----
    'risc0_3803': Case(
        'risc0/risc0#3803', 'the kernel takes no element count, the grid is rounded up', 'bounds',
        '--grid 2 --block 64 --buffer e=u32[90] --arg &e', 'bounds'),
    'cudaforengineers_5': Case(
        'myurtoglu/cudaforengineers#5', 'the neighbours of the first and last element are read', 'bounds',
        '--grid 4 --block 32 --buffer o=f32[128] --buffer i=f32[128] --arg &o --arg &i --arg 128 --arg f32:1', 'negative bounds'),
    'hecbench_112': Case(
        'ORNL/HeCBench#112', 'a column filter reads as many rows as its radius, for an image that has fewer', 'bounds',
        '--grid 2 --block 32 --buffer i=u32[640] --buffer o=u32[640] --arg &i --arg &o --arg 64 --arg 10 --arg 14', 'bounds'),
    'hecbench_132': Case(
        'ORNL/HeCBench#132', 'the last block of pixels is not whole', 'bounds',
        '--grid 6 --block 32 --buffer p=u32[81] --buffer r=u64[6] --arg &p --arg &r --arg 6', 'bounds'),
    'gkeyll_738': Case(
        'gkeyllorg/gkeyll#738', 'threads behind the last cell load in a reduction by blocks', 'bounds',
        '--grid 2 --block 64 --buffer c=f64[300] --buffer o=f64[1] --arg &c --arg &o --arg 100 --arg 3', 'bounds'),
    'how_to_optim_6': Case(
        'BBuf/how-to-optim-algorithm-in-cuda#6', 'two halves are added to a buffer for one', 'bounds',
        '--grid 3 --block 32 --buffer s=u16[64] --buffer x=u16[256] --arg &s --arg &x --arg 66', 'bounds'),
    'loopy_808': Case(
        'inducer/loopy#808', 'a check by unsigned subtraction is always true', 'bounds',
        '--grid 2,66 --block 64 --buffer q=f64[4096] --arg &q --arg 64 --arg 64', 'bounds'),
    'rocm_systems_1795': Case(
        'ROCm/rocm-systems#1795', 'an unsigned counter goes down past zero', 'bounds',
        '--block 32 --buffer t=f32[64] --buffer r=f32[32] --arg &t --arg &r --arg 64', 'unsigned', 'overflow maybe_overflow'),
    'sglang_13896': Case(
        'sgl-project/sglang#13896', 'a transposed tensor is read as a row-major one', 'bounds',
        '--grid 8 --block 32 --buffer r=s32[64] --buffer o=s32[64] --arg &r --arg &o --arg 1024 --arg 8 --arg 8', 'stride'),
    'vllm_xpu_kernels_396': Case(
        'vllm-project/vllm-xpu-kernels#396', 'the stride of the batch is taken for that of a token', 'bounds',
        '--grid 8 --block 32 --buffer i=f32[2048] --buffer o=f32[256] --arg &i --arg &o --arg 128 --arg 262144', 'stride'),
    'autoware_113': Case(
        'autowarefoundation/autoware#113', 'a comparison with <= where < is meant', 'bounds',
        '--grid 4 --block 32 --buffer p=f32[508] --buffer s=f32[128] --arg &p --arg &s --arg 4 --arg 127', 'bounds'),
    'timemachine_1214': Case(
        'proteneer/timemachine#1214', 'every thread stores to a buffer of three', 'bounds',
        '--block 32 --buffer c=f64[300] --buffer o=f64[3] --arg &c --arg &o --arg 100', 'bounds'),
    'booth_76': Case(
        'Zaneham/Booth#76', 'Triton: vectors are added without a mask', 'booth_76',
        '--grid 4 --block 128 --buffer a=f32[900] --buffer b=f32[900] --buffer o=f32[900] --arg &a --arg &b --arg &o --arg 900 --arg 0 --arg 0', 'no_mask'),
    'triton_10336': Case(
        'triton-lang/triton#10336', 'Triton: the mask has the length of another tensor', 'triton_10336',
        '--block 128 --buffer v=s32[100] --buffer b=s32[40] --buffer o=s32[128] --arg &v --arg &b --arg &o --arg 1 --arg 1 --arg 100 --arg 0 --arg 0', 'mask_size'),
    'numba_7284': Case(
        'numba/numba#7284', 'Numba: forall() rounds the grid up, the kernel has no check', 'numba_7284',
        '--grid 2 --block 64 --buffer a=s64[100] --arg 0 --arg 0 --arg 100 --arg 8 --arg &a --arg 100 --arg 8 --arg 7', 'bounds'),

    # ---- pointers ----
    'cudarc_128': Case(
        'chelsea0x3b/cudarc#128', 'a structure passed by value holds a pointer to an array of the host', 'pointers',
        '--block 32 --buffer o=f32[32] --arg @device --arg &o', 'lost', files={'device': struct.pack('<QII', HOST_HEAP, 32, 0)}),
    'raja_799': Case(
        'llnl/RAJA#799', 'a lambda captured the address of an object on the stack of the host', 'pointers',
        f'--block 32 --arg {HOST_STACK} --arg f64:1.5 --arg 32', 'lost'),
    'abacus_6862': Case(
        'deepmodeling/abacus-develop#6862', 'the data of a vector of the host is passed to a kernel', 'pointers',
        f'--grid 8 --block 32 --buffer m=f64[256] --buffer r=f64[256] --arg &m --arg {HOST_HEAP} --arg &r --arg 8 --arg 32', 'lost'),
    'tornadovm_1006': Case(
        'beehive-lab/TornadoVM#1006', 'a replayed graph has the address that a buffer had at capture', 'pointers',
        f'--grid 2,4 --block 32 --buffer v=f32[256] --arg {FREED} --arg &v --arg 64 --arg 4', 'lost'),
    'tensorrt_llm_15265': Case(
        'NVIDIA/TensorRT-LLM#15265', 'a tensor of another stream was freed while a kernel read it', 'pointers',
        f'--grid 2 --block 64 --buffer s=f32[128] --buffer o=f32[512] --arg {FREED + 0x20000} --arg &s --arg &o --arg 128', 'lost'),
    'superterrainplus_2': Case(
        'stephen-hqxu/superterrainplus#2', 'an object was copied byte by byte, its array freed with the original', 'pointers',
        '--block 32 --buffer n=u64@object --buffer o=f64[32] --arg &n --arg &o --arg 32', 'lost_member',
        files={'object': struct.pack('<qQ', 32, FREED + 0x600)}),
    'numba_cuda_mlir_247': Case(
        'NVIDIA/numba-cuda-mlir#247', 'malloc() in a kernel returns null when the device heap is used up', 'pointers',
        '--grid 8 --block 64 --buffer o=f32[512] --arg &o --arg 20000', 'malloc null_other', never=['was passed to the kernel']),
    'cub_110': Case(
        'NVIDIA/cub#110', 'the wrong branch reads from a pointer that is null', 'pointers',
        '--block 64 --buffer b=u32[16] --arg 0 --arg 1 --arg 5 --arg &b --arg 64', 'null_param'),
    'openmc_16': Case(
        'exasmr/openmc#16', 'a member of a structure in device memory was never set', 'pointers',
        '--block 32 --buffer l=u64[8] --buffer o=f64[32] --arg &l --arg &o', 'null_member'),
    'raja_657': Case(
        'llnl/RAJA#657', 'a virtual function is called on an object that the host constructed', 'pointers',
        '--block 32 --buffer m=u64@object --buffer h=u64@handle --buffer o=f32[32] --arg &h --arg &o', 'virtual lost_member',
        files={'object': struct.pack('<QfI', HOST_HEAP, 7850.0, 0), 'handle': lambda at: struct.pack('<Q', at['m'])}),
    'theano_2374': Case(
        'Theano/Theano#2374', 'an address of 64 bits went through an int of the host', 'pointers',
        '--memory 3000000000 --block 32 --buffer before=f32[300000000] --buffer x=f32[1024] --buffer o=f32[32] --arg low:x --arg &o', 'cut'),
    'fbgemm_5743': Case(
        'pytorch/FBGEMM#5743', 'addresses of rows are kept in an array of 32-bit integers', 'pointers',
        '--memory 4000000000 --grid 2 --block 32 --buffer before=f32[600000000] --buffer x=f32[2048] --buffer r=s64@rows --buffer o=f32[128] --arg &r --arg &o --arg 64', 'cut',
        files={'rows': lambda at: words('q', [at['x'] + 256 * i for i in range(32)])}),

    # ---- misaligned ----
    'mahout_1107': Case(
        'apache/mahout#1107', 'samples of odd length are read as double2', 'align',
        '--grid 4 --block 32 --buffer b=f64[404] --buffer n=f64[4] --arg &b --arg &n --arg 101', 'align_stride'),
    'paddle_23090': Case(
        'PaddlePaddle/Paddle#23090', 'the second part of a buffer begins at a number that is no multiple of four', 'align',
        '--block 64 --buffer q=f32[1024] --buffer t=f32[256] --arg &q+24 --arg &t --arg 64', 'align_offset'),
    'cutlass_49': Case(
        'NVIDIA/cutlass#49', 'eight halves are read at once from rows of odd length', 'align',
        '--grid 4 --block 32 --buffer a=u16[1028] --buffer o=f32[128] --arg &a --arg &o --arg 257 --arg 256', 'align_stride'),
    'kokkos_686': Case(
        'kokkos/kokkos#686', 'shared memory of bytes is taken for doubles behind an odd head', 'align',
        '--block 32 --shared 512 --buffer i=f64[32] --buffer o=f64[32] --arg &i --arg &o --arg 12', 'align_cast align_offset'),
    'hands_on_gemm_11': Case(
        'AyakaGEMM/Hands-on-GEMM#11', 'rows of a tile have an odd length and are read as float4', 'align',
        '--block 32 --buffer i=f32[1024] --buffer o=f32[128] --arg &i --arg &o', 'align_stride align_cast'),
    'pytorch_44642': Case(
        'pytorch/pytorch#44642', 'a tensor of halves begins at an odd element, pairs are added to it', 'align',
        '--block 32 --buffer g=u16[130] --buffer i=s32[32]:index --buffer v=u16[32] --arg &g+2 --arg &i --arg &v --arg 32', 'align_offset'),
    'qmcpack_3029': Case(
        'QMCPACK/qmcpack#3029', 'numbers of 8 bytes lie behind an odd count of numbers of 4 in a fused buffer', 'align',
        '--block 32 --buffer f=u8[1024] --buffer e=s32[32] --buffer o=f64[32] --arg &f --arg &e --arg &o --arg 31', 'align_offset align_cast'),

    # ---- shared memory, stacks ----
    'damascene_2': Case(
        'bryancatanzaro/damascene#2', 'the launch gives no dynamic shared memory', 'shared',
        '--grid 2 --block 64 --buffer i=f32[1024] --buffer g=f32[1024] --arg &i --arg &g --arg 512', 'shared_size'),
    'popsift_109': Case(
        'alicevision/popsift#109', 'the launch gives less dynamic shared memory than four arrays need', 'shared',
        '--block 64 --shared 256 --buffer i=f32[64] --buffer a=f32[64] --arg &i --arg &a', 'shared_size'),
    'openmm_2825': Case(
        'openmm/openmm#2825', 'the last warp reads behind a full buffer in shared memory', 'shared',
        '--block 128 --buffer a=s32[128] --buffer o=s32[128] --arg &a --arg &o --arg 8', 'shared_index'),
    'hecbench_83': Case(
        'ORNL/HeCBench#83', 'a bin number from the data has one bit more than the histogram has room for', 'shared',
        '--block 128 --buffer d=u32[128]:255 --buffer o=u32[128] --arg &d --arg &o --arg 128', 'shared_index loaded'),
    'llama_cpp_8123': Case(
        'ggml-org/llama.cpp#8123', 'half of the threads give ldmatrix a garbage address', 'shared',
        '--block 32 --buffer i=s32[128] --buffer o=s32[32] --arg &i --arg &o --arg 4096', 'shared_index'),
    'braingrid_255': Case(
        'UWB-Biocomputing/BrainGrid#255', 'a recursive sort uses up the stack', 'shared',
        '--block 32 --stack 1024 --buffer l=s32[4096] --buffer o=s32[32] --arg &l --arg &o --arg 4000', 'recursion'),
    'tribol_170': Case(
        'llnl/Tribol#170', 'calls need more stack than the limit of the host', 'shared',
        '--block 32 --stack 1024 --buffer o=f32[32] --arg &o --arg 100 --arg 0', 'stack_size'),

    # ---- stops ----
    'pytorch_18014': Case(
        'pytorch/pytorch#18014', 'a label is not below the number of classes', 'stop',
        '--block 32 --buffer l=f32[320] --buffer t=s64@labels --buffer o=f32[32] --arg &l --arg &t --arg &o --arg 10 --arg 32', 'assert',
        line='assert(t >= 0', files={'labels': words('q', [i % 10 if i != 17 else 10 for i in range(32)])}),
    'garak_199': Case(
        'NVIDIA/garak#199', 'a position is beyond the table of positions', 'stop',
        '--grid 8 --block 32 --buffer s=f32[128] --buffer i=s64[8]:index --buffer o=f32[256] --arg &s --arg &i --arg &o --arg 4 --arg 32', 'assert',
        line='assert(from < dim)'),
    'deepep_158': Case(
        'deepseek-ai/DeepEP#158', 'the peer sends nothing; the receiver prints and traps when it has waited long enough', 'stop',
        '--grid 2 --block 1 --buffer t=s32[2]:3 --buffer o=s32[2] --arg &t --arg &o --arg 8 --arg 50', 'gave_up', 'trap'),
    'raft_2411': Case(
        'NVIDIA/raft#2411', 'a shuffle has a mask without some of the lanes that execute it', 'stop',
        '--block 32 --buffer i=f32[64]:1 --buffer o=f32[32] --arg &i --arg &o --arg 52',
        fine='mask', says=[r'\bmask\b[^.;]*\b(lane|thread|caller|itself|not|without)']),

    # ---- waits ----
    'flashmla_57': Case(
        'deepseek-ai/FlashMLA#57', 'a named barrier expects 256 threads, 128 come', 'hang',
        '--block 256 --buffer i=f32[256] --buffer o=f32[256] --arg &i --arg &o',
        says=[r'^Hang suspected', r'barrier 1\b', r'128 (of 256|threads)'], line='bar.sync 1, 256'),
    'lorax_156': Case(
        'predibase/lorax#156', 'blocks take different numbers of steps, each with a barrier of the grid', 'hang',
        '--cooperative --grid 4 --block 32 --buffer s=s32@starts --buffer o=f32[1] --arg &s --arg &o',
        says=[r'^Hang suspected', r'block[^.;]*(left|ended|exited|returned|gone)'], never=[r'use a cooperative launch'],
        files={'starts': words('i', [0, 3, 6, 8, 11])}),
    'alpaka_2307': Case(
        'alpaka-group/alpaka#2307', 'more blocks than fit wait for each other', 'hang',
        '--max-instructions 5000000 --grid 600 --block 1024 --buffer a=u32[1] --buffer d=f32[614400] --arg &a --arg &d',
        says=[r'^Hang suspected', r'of 600 blocks|cooperative launch']),
    'kokkos_4377': Case(
        'kokkos/kokkos#4377', 'a spin lock is not given back', 'hang',
        '--grid 6 --block 32 --buffer l=s32[1] --buffer c=s32[1] --arg &l --arg &c --arg 3',
        says=[r'^Hang suspected', r'lock|(0|zero); it is 1|while it is 1'], line='atomicCAS'),
    'onebit_405': Case(
        '1bit-MONSTER/1bit-MONSTER#405', 'a loop waits without end for a flag that nobody sets', 'hang',
        '--block 64 --buffer d=s32[8] --buffer r=f32[64] --buffer o=f32[64] --arg &d --arg &r --arg &o --arg 3',
        says=[r'^Hang suspected', r'not 0; it is 0|other than 0|anything but 0'], line='done_flags[layer] == 0'),
    'sglang_31135': Case(
        'sgl-project/sglang#31135', 'a buffer whose contents are the signal is polled until no sentinel is in it', 'hang',
        '--block 32 --buffer s=u32[128]:2147483648 --buffer o=f32[128] --arg &s --arg &o --arg 32',
        says=[r'^Hang suspected', r'wait for global memory to change', r'0x80000000|2147483648'], line='ld.volatile.global.v4'),
    'tilelang_1026': Case(
        'tile-ai/tilelang#1026', 'a barrier of the whole block stands in a branch that some threads do not take', 'hang',
        '--block 64 --buffer i=f32[32] --buffer o=f32[32] --arg &i --arg &o',
        says=[r'^Hang suspected', r'wait for shared memory to change', r'at a barrier of (their|its) block|at barrier 0']),
    'triton_8285': Case(
        'triton-lang/triton#8285', 'fewer threads arrive at an mbarrier than it counts', 'hopper',
        '--block 128 --buffer i=f32[128] --buffer o=f32[128] --arg &i --arg &o --arg 3',
        says=[r'^Hang suspected', r'mbarrier', r'1 (more |pending )?(arrival|thread)|arrivals?[^.;]* 1\b'], archs=HOPPER),
    'triton_9046': Case(
        'triton-lang/triton#9046', 'a copy brings fewer bytes than the mbarrier expects', 'hopper',
        '--block 128 --buffer i=f32[256] --buffer o=f32[128] --arg &i --arg &o --arg 1024',
        says=[r'^Hang suspected', r'mbarrier', r'512 (more )?bytes'], archs=HOPPER),

    'helion_3620': Case(
        'pytorch/helion#3620', 'setmaxnreg raises the registers of some warps, and no other warp gives any back', 'hopper',
        '--block 384 --buffer i=f32[384] --buffer o=f32[384] --arg &i --arg &o --arg 8',
        says=[r'^Hang suspected', r'registers'], line='setmaxnreg.inc', archs=HOPPER, debug=False),  # nvcc leaves setmaxnreg out then

    # ---- clusters and copies ----
    'sglang_32907': Case(
        'sgl-project/sglang#32907', 'a block of a cluster exits while the other still uses its shared memory', 'hopper',
        '--grid 2 --block 128 --cluster 2 --buffer i=f32[128] --buffer o=f32[256] --arg &i --arg &o --arg 5000', 'peer_gone', archs=HOPPER),
    'pytorch_184563': Case(
        'pytorch/pytorch#184563', 'a bulk copy reads from a view that begins one element later', 'hopper',
        '--block 128 --buffer i=f32[256] --buffer o=f32[128] --arg &i --arg &o --arg 1', 'align_offset align_cast', archs=HOPPER),
    'fuser_3602': Case(
        'NVIDIA/Fuser#3602', 'a bulk store reads from a tile in shared memory that is not aligned', 'hopper',
        '--block 128 --shared 4096 --buffer o=f32[128] --arg &o --arg 2', 'align_offset align_cast tile_odd', archs=HOPPER),
    'tilelang_1931': Case(
        'tile-ai/tilelang#1931', 'the tensor map could not be made, and is used all the same', 'hopper',
        '--block 128 --buffer o=f32[128] --arg @map --arg &o', 'map_zero', archs=HOPPER, files={'map': bytes(128)}),

    # ---- bugs of our own, of kinds that were mended ----
    'ignored_label': Case(
        OWN, 'a label of -100, which stands for "ignore", is used as an index', 'again',
        '--block 64 --buffer s=f32[4096] --buffer l=s8@labels --buffer p=f32[64] --arg &s --arg &l --arg &p --arg 1024 --arg 64', 'loaded negative',
        files={'labels': bytes(i % 4 if i != 21 else 156 for i in range(64))}),
    'page_of_short': Case(
        OWN, 'a slot of a page table of 16-bit numbers was never written', 'again',
        '--grid 4 --block 32 --buffer p=f32[4096] --buffer t=u16@table --buffer o=f32[128] --arg &p --arg &t --arg &o --arg 128', 'loaded', 'garbage',
        files={'table': words('H', [3, 17, 0xcdcd, 5])}),
    'cursor_in_bytes': Case(
        OWN, 'a cursor of 32 bits goes through more than 2 GiB', 'again',
        '--memory 4000000000 --block 32 --buffer f=u8[2600000000] --buffer s=s32[32] --arg &f --arg &s --arg 1600000000 --arg 100000000 --arg 9',
        'overflow maybe_overflow', archs=(100, 120)),  # nvcc counts in 64 bits for others
    'pair_of_counters': Case(
        OWN, 'two counters are polled by one read, and only the first is raised', 'again',
        '--block 32 --buffer p=u64@pair --buffer o=s32[32] --arg &p --arg &o --arg u64:6',
        says=[r'^Hang suspected', r'words 0 and 1 are at least 6; word 1 is 2'], line='ld.volatile.global.v2.u64', files={'pair': words('Q', [7, 2])}),
    'queue_is_full': Case(
        OWN, 'the consumer of a queue stopped, and the producer waits for room', 'again',
        '--block 32 --buffer t=u32[1]:5 --buffer o=s32[32] --arg &t --arg &o --arg 24 --arg 16',
        says=[r'^Hang suspected', r'at least 8; it is 5'], line='*taken + 16'),
    'ticket_lock': Case(
        OWN, 'nobody passes the turn on', 'again', '--block 32 --buffer t=s32[1]:4 --buffer o=s32[32] --arg &t --arg &o --arg 6',
        says=[r'^Hang suspected', r'wait for global memory to change', r'(kernel parameter 0|`turn`)']),
    'flag_in_shared': Case(
        OWN, 'the warp that would set a flag in shared memory returns before', 'again',
        '--block 64 --buffer i=s32[32]:1 --buffer o=s32[32] --arg &i --arg &o --arg 2',
        says=[r'^Hang suspected', r'wait for shared memory to change', r'the value is 3; it is 0'], line='flag != 3'),
    'receiver_gives_up': Case(
        OWN, 'the receiver traps when it has waited long enough by a clock', 'again',
        '--grid 2 --block 1 --buffer t=s32[2]:3 --buffer o=s32[2] --arg &t --arg &o --arg 8 --arg u64:90', 'gave_up', says=[r'kernel parameter 0']),
    'message_is_an_error': Case(
        OWN, 'the receiver traps when the message that it waited for is an error', 'again',
        '--block 32 --buffer m=s32[1]:-1 --buffer o=s32[32] --arg &m --arg &o --arg 5', 'trap', never=[r'timed out', r'gave up'],
        says=[r'^Stopped at a trap']),
}
