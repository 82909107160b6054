#!/bin/sh
# Configures a build folder of the checkout that it is called in, unless that is done: configure.sh BUILD OPTION...
# A folder that was copied or moved with its checkout still names the first one, would build that and test it: it is made anew.
set -eu
build=$1
shift
belongs='import json, os, sys; sys.exit(json.load(open(sys.argv[1]))["directories"]["source"] != os.path.realpath("."))'
if [ -e "$build/build.ninja" ]; then
	python3 -c "$belongs" "$build/meson-info/meson-info.json" && exit
	rm -rf "$build"
fi
exec "$(dirname "$0")/quietly.sh" "Configuring $build ..." meson setup "$build" "$@"
