# The front door. Each target alone does all its set-up on a Debian 12 machine with git and make,
# as root or with sudo.

BUILD ?= build
DUMPS = $(sort $(wildcard examples/dumps/*.nvcudmp*))

.PHONY: all build demo headers picture check check-full check-sanitize check-sanitize-full check-fuzz check-oracle check-browser bench bench-smoke install dist check-dist check-dist-full page check-page check-page-full bench-page clean packages

all: build

# Installs what is missing of the one list (tools/packages.txt).
packages:
	@tools/install-packages.sh

$(BUILD)/build.ninja: packages
	@tools/configure.sh $(BUILD)

# Says little: what ninja prints is shown when it fails.
build: packages $(BUILD)/build.ninja
	@tools/quietly.sh "Building $(BUILD), a few minutes the first time ..." ninja -C $(BUILD)

# Builds the program and nothing else.
demo: packages $(BUILD)/build.ninja
	@tools/quietly.sh "Building the program, a minute or two ..." ninja -C $(BUILD) warpscope cuda/warpscope-agent examples/example-program
	@tools/demo.sh $(BUILD)/warpscope $(BUILD)/examples/example-program $(DUMPS)

# What people read and the build makes: the header of the debugger API, and two pages of what was measured.
MADE = include/warpscope/cudadebugger.h docs/api-coverage.md docs/sass-coverage.md
headers: packages $(BUILD)/build.ninja
	@tools/quietly.sh "Making them ..." ninja -C $(BUILD) $(MADE)
	@printf '%s\n' $(MADE:%=$(BUILD)/%)

# The picture in README.md, again: after a change of the HTML page. Needs tools/packages-browser.txt.
picture: build
	@tools/readme-picture.py $(BUILD)/warpscope .

# For tests, a PATH without the commands of packages that nobody listed: make check is to pass on a newcomer's machine.
LISTED = PATH="$$(tools/listed-commands.py $(BUILD)/commands)"

# The plain suite. COUNTS=FILE, here and below: appends passed, failed, skipped to FILE (.ci/run sums them).
check: build
	@$(LISTED) tools/run-suite.py $(BUILD) $(COUNTED) unit kernels builders api golden cli deps format fuzz

# The bulk form of tests whose sample is in the plain suite: more seeds, more damage, every fixture. Minutes to an hour.
check-full: build
	@$(LISTED) tools/run-suite.py $(BUILD) --slow 6 $(COUNTED) full

# The plain suite under AddressSanitizer and UndefinedBehaviorSanitizer, but for what executes no other code of ours than the rest,
# then what is shared by threads under ThreadSanitizer.
ASAN = $(BUILD)-asan
TSAN = $(BUILD)-tsan
# Places in the source, for what a sanitizer says.
READABLE = -Dc_args=-g1
# Half the time to compile; and each start of a program that can be loaded anywhere relocates all places that
# UndefinedBehaviorSanitizer knows.
SANITIZED = $(READABLE) -Doptimization=1 -Db_pie=false -Db_lundef=false

$(ASAN)/build.ninja: packages
	@tools/configure.sh $(ASAN) $(SANITIZED) -Db_sanitize=address,undefined

$(TSAN)/build.ninja: packages
	@tools/configure.sh $(TSAN) $(SANITIZED) -Db_sanitize=thread

check-sanitize: $(ASAN)/build.ninja $(TSAN)/build.ninja
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		tools/run-suite.py $(ASAN) --build --slow 6 $(COUNTED) --without unsanitized unit kernels golden live cli fuzz
	@TSAN_OPTIONS=halt_on_error=1 tools/run-suite.py $(TSAN) --build --slow 6 $(COUNTED) threads

# A million random calls of the debugger API, in each of the two. An hour.
check-sanitize-full: $(ASAN)/build.ninja $(TSAN)/build.ninja
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 tools/run-suite.py $(ASAN) --build --slow 6 $(COUNTED) calls
	@TSAN_OPTIONS=halt_on_error=1 tools/run-suite.py $(TSAN) --build --slow 6 $(COUNTED) calls

# Every libFuzzer target for FUZZ_SECONDS, from its seeds.
FUZZ = $(BUILD)-fuzz
FUZZ_SECONDS ?= 20

$(FUZZ)/build.ninja: packages
	@tools/install-packages.sh packages-fuzz.txt
	@CC=clang-14 tools/configure.sh $(FUZZ) $(READABLE) -Dfuzz=true -Db_sanitize=address,undefined -Db_lundef=false

check-fuzz: $(FUZZ)/build.ninja
	@tools/quietly.sh "Building $(FUZZ) ..." ninja -C $(FUZZ) fuzzers
	@tools/fuzz.py $(FUZZ) $(FUZZ_SECONDS) $(COUNTED)

# Against other programs, as far as they are installed (tests/oracle/README.md); the others are skipped.
check-oracle: build
	@tools/run-suite.py $(BUILD) $(COUNTED) oracle

# The HTML page in headless Chromium; skipped where it is not installed and cannot be.
check-browser: build
	-@tools/install-packages.sh packages-browser.txt
	@tools/run-suite.py $(BUILD) $(COUNTED) browser

# $(COUNTS), as an option of run-suite.py and fuzz.py.
COUNTED = $(if $(COUNTS),--counts $(COUNTS))

PREFIX ?= /usr/local

bench: build
	@bench/run.sh $(BUILD) | tools/count-bench.py

# One full-size dump: every limit holds.
bench-smoke: build
	@bench/run.sh $(BUILD) --smoke | tools/count-bench.py $(COUNTED)

LIBDIR ?= lib

# DESTDIR is honoured, as by every install.
install: build
	@meson configure $(BUILD) -Dprefix=$(PREFIX) -Dlibdir=$(LIBDIR)
	@meson install -C $(BUILD)
	@tools/after-install.sh "$(PREFIX)" "$(LIBDIR)" "$(DESTDIR)"

# Static programs for amd64 and arm64, and what goes with them, in $(DIST)/out: the same bytes wherever they are made.
DIST = $(BUILD)-dist
ARCHITECTURES = amd64 arm64

dist: packages
	@tools/install-packages.sh packages-dist.txt
	@set -e; for arch in $(ARCHITECTURES); do tools/dist.sh $$arch $(DIST)/$$arch; done
	@tools/dist.py $(DIST) $(DIST)/out $(ARCHITECTURES)

# Whether they run where nothing else is: an empty folder, other users, arm64 by emulation. check-dist-full: also in a Debian 11, and
# all is built again elsewhere and compared.
check-dist: build dist
	-@tools/install-packages.sh packages-dist.txt packages-check-dist.txt
	@tools/run-suite.py $(BUILD) $(COUNTED) dist

check-dist-full: build dist
	@tools/install-packages.sh packages-dist.txt packages-check-dist.txt
	@tools/run-suite.py $(BUILD) $(COUNTED) dist-full

# warpscope.html, one file that opens dumps in a browser: $(PAGE)/warpscope.html.
PAGE = $(BUILD)-page

page: packages
	@tools/install-packages.sh packages-page.txt
	@tools/page.sh $(PAGE)
	@tools/page.py $(PAGE) $(PAGE)/warpscope.html

# Whether its module answers as the program does, in Node, and the page in headless Chromium and Firefox. check-page-full: over all planted dumps.
check-page: build page
	-@tools/install-packages.sh packages-browser.txt packages-check-page.txt
	@tools/run-suite.py $(BUILD) $(COUNTED) page

check-page-full: build page
	@tools/run-suite.py $(BUILD) $(COUNTED) page-full

# What the module costs beside the program, on a dump of a full GPU.
bench-page: build page
	@[ -e $(PAGE)/full.nvcudmp ] || bench/gen_huge.py $(PAGE)/full.nvcudmp
	@bench/page.py $(BUILD)/warpscope . $(PAGE) $(PAGE)/full.nvcudmp | tools/count-bench.py $(COUNTED)

clean:
	rm -rf build build-*
