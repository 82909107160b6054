/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as a person reads them. */
#include "unit.h"

#include <warpscope/cubin.h>

#include "cubin/cubin.h"

static void names_are_demangled_whole_and_short(void **state)
{
	(void)state;
#if !WSI_HAVE_DEMANGLE
	skip();
#endif
	static const struct {
		const char *mangled, *whole, *kernel, *brief;
	} cases[] = {
		{ "_Z8checksumPKciiPi", "checksum(char const*, int, int, int*)", "checksum",
		  "checksum" },
		{ "_ZN2ns5OuterIiE6kernelIfEEvPT_", "void ns::Outer<int>::kernel<float>(float*)",
		  "ns::Outer<int>::kernel<float>", "ns::Outer::kernel" },
		{ "_ZN1AIXgtLi3ELi2EEE1fEv", "A<((3)>(2))>::f()", "A<((3)>(2))>::f", "A::f" },
		{ "_ZlsR1ARK1B", "operator<<(A&, B const&)", "operator<<", "operator<<" },
		{ "_ZN1AptEv", "A::operator->()", "A::operator->", "A::operator->" },
		{ "_ZN12_GLOBAL__N_11kEv", "(anonymous namespace)::k()", "(anonymous namespace)::k",
		  "(anonymous namespace)::k" },
		{ "_Z1kIPFviEEvT_", "void k<void (*)(int)>(void (*)(int))", "k<void (*)(int)>",
		  "k" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		char text[200];
		assert_true(ws_demangle(ws_str_of(cases[i].mangled), text, sizeof text));
		assert_string_equal(text, cases[i].whole);
		assert_true(ws_demangle_kernel(ws_str_of(cases[i].mangled), text, sizeof text));
		assert_string_equal(text, cases[i].kernel);
		assert_true(ws_demangle_short(ws_str_of(cases[i].mangled), text, sizeof text));
		assert_string_equal(text, cases[i].brief);
	}
}

/* What compilers add: names of numba-cuda 0.30.4, nvcc 13.0 and Warp 1.19.0; and of ordinary code,
 * which keeps its tags. */
static void names_have_nothing_that_compilers_add(void **state)
{
	(void)state;
#if !WSI_HAVE_DEMANGLE
	skip();
#endif
	static const struct {
		const char *mangled, *whole, *brief, *plain;
	} cases[] = {
		{ "_ZN8__main__3oobB2v1B22cw51cXTLSUwv1sDUaKthqaE5ArrayIfLi1E1C7mutable7alignedE",
		  "__main__::oob(Array<float, 1, C, mutable, aligned>)", "oob",
		  "_ZN8__main__3oobE5ArrayIfLi1E1C7mutable7alignedE" },
		{ "_ZN30_INTERNAL_e5da78a7_4_s_cu_main6helperEPKfi", "helper(float const*, int)",
		  "helper", "_ZN6helperEPKfi" },
		{ "_ZN30_INTERNAL_e5da78a7_4_s_cu_main1a1fENS0_1SES1_", "a::f(a::S, a::S)", "a::f",
		  "_ZN1a1fENS0_1SES1_" },
		{ "_ZN32_GLOBAL__N__e5da78a7_4_s_cu_main6hiddenEPfi",
		  "(anonymous namespace)::hidden(float*, int)", "(anonymous namespace)::hidden",
		  "_ZN12_GLOBAL__N_16hiddenEPfi" },
		{ "_ZN3std1fB5cxx11Ev", "std::f[abi:cxx11]()", "std::f[abi:cxx11]",
		  "_ZN3std1fB5cxx11Ev" },
		{ "_ZN3std1fB7v160006Ev", "std::f[abi:v160006]()", "std::f[abi:v160006]",
		  "_ZN3std1fB7v160006Ev" },
		{ "_ZN10_INTERNAL_1fEv", "_INTERNAL_::f()", "_INTERNAL_::f",
		  "_ZN10_INTERNAL_1fEv" },
		{ "oob_629d2e90_cuda_kernel_forward", "oob", "oob", "oob" },
		{ "oob_629d2e90_cuda_kernel_backward", "oob_cuda_kernel_backward",
		  "oob_cuda_kernel_backward", "oob_cuda_kernel_backward" },
		{ "oob_cuda_kernel_forward", "oob_cuda_kernel_forward", "oob_cuda_kernel_forward",
		  "oob_cuda_kernel_forward" },
	};
	for (size_t i = 0; i < WSI_COUNT(cases); i++) {
		const struct ws_str name = ws_str_of(cases[i].mangled);
		char text[200];
		(void)ws_demangle(name, text, sizeof text);
		assert_string_equal(text, cases[i].whole);
		(void)ws_demangle_short(name, text, sizeof text);
		assert_string_equal(text, cases[i].brief);
		text[wsi_name_plain(name, "", text)] = 0;
		assert_string_equal(text, cases[i].plain);
	}
}

static void names_that_are_not_mangled_stay(void **state)
{
	(void)state;
	char text[8];
	assert_false(ws_demangle(ws_str_of("caller"), text, sizeof text));
	assert_string_equal(text, "caller");
	assert_false(ws_demangle(ws_str_of("a_long_plain_name"), text, sizeof text));
	assert_string_equal(text, "a_long_");
	assert_false(ws_demangle_kernel(ws_str_of("a_long_plain_name"), text, sizeof text));
	assert_string_equal(text, "a_long_");
	assert_false(ws_demangle_short(ws_str_of("_Z"), text, sizeof text));
	assert_string_equal(text, "_Z");
	assert_false(ws_demangle((struct ws_str){ NULL, 0 }, text, sizeof text));
	assert_string_equal(text, "");
}

/* Deep nesting, doubling substitutions, 4 kB and longer: an answer, soon. */
static void hostile_names_are_bounded(void **state)
{
	(void)state;
	static char name[40000], text[300];
	for (size_t len = 500; len < sizeof name; len *= 2) {
		memset(name, 'P', len);
		memcpy(name, "_Z1f", 4);
		name[len] = 0;
		(void)ws_demangle(ws_str_of(name), text, sizeof text);
		memset(name + 4, 'I', len - 4);
		(void)ws_demangle(ws_str_of(name), text, sizeof text);
		(void)ws_demangle_short(ws_str_of(name), text, sizeof text);
	}
	size_t len = 0; /* each argument is a pair of the one before: 2^60 words of output */
	len += (size_t)snprintf(name, sizeof name, "_Z1f1AIiiE");
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	len += (size_t)snprintf(name + len, sizeof name - len, "S_IS0_S0_E");
	for (unsigned i = 1; i < 30; i++)
		len += (size_t)snprintf(name + len, sizeof name - len, "S_IS%c_S%c_E", digits[i],
					digits[i]);
	(void)ws_demangle(ws_str_of(name), text, sizeof text);
	(void)ws_demangle_short(ws_str_of(name), text, sizeof text);
	assert_true(strlen(text) < sizeof text);
}

static void name_of_four_kilobytes_is_demangled(void **state)
{
	(void)state;
#if !WSI_HAVE_DEMANGLE
	skip();
#endif
	static char name[5000], text[6000];
	size_t len = (size_t)snprintf(name, sizeof name, "_ZN");
	for (unsigned i = 0; i < 400; i++)
		len += (size_t)snprintf(name + len, sizeof name - len, "8name%04u", i);
	snprintf(name + len, sizeof name - len, "Ev");
	assert_true(ws_demangle(ws_str_of(name), text, sizeof text));
	assert_memory_equal(text, "name0000::name0001::", 20);
	assert_string_equal(text + strlen(text) - 10, "name0399()");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_demangled_whole_and_short),
		cmocka_unit_test(names_have_nothing_that_compilers_add),
		cmocka_unit_test(names_that_are_not_mangled_stay),
		cmocka_unit_test(hostile_names_are_bounded),
		cmocka_unit_test(name_of_four_kilobytes_is_demangled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
