# The front door. Each target alone does all its set-up on a Debian 12 machine with git and make,
# as root or with sudo.

BUILD ?= build
DUMPS = $(sort $(wildcard examples/dumps/*.nvcudmp*))

.PHONY: all build demo check check-sanitize check-fuzz check-oracle bench bench-smoke install clean packages

all: build

# Installs what is missing of the one list (tools/packages.txt).
packages:
	@tools/install-packages.sh

$(BUILD)/build.ninja: | packages
	meson setup $(BUILD)

build: packages $(BUILD)/build.ninja
	@ninja -C $(BUILD)

demo: build
	@tools/demo.sh $(BUILD)/warpscope $(DUMPS)

check: build
	@tools/run-suite.py $(BUILD) unit builders api golden cli deps format

install: build
	@meson install -C $(BUILD)

clean:
	rm -rf build build-*
