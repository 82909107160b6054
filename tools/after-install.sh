#!/bin/sh
# What is left to do where `make install` has put a library: after-install.sh PREFIX LIBDIR [DESTDIR]
# The loader's cache is renewed where that is allowed; what will not be found by itself is said. Into a DESTDIR, nothing:
# that is a package's business.
set -u
prefix=$1
case $2 in /*) libdir=$2 ;; *) libdir=$prefix/$2 ;; esac
[ -z "${3-}" ] || exit 0
PATH=$PATH:/usr/sbin:/sbin
if command -v ldconfig >/dev/null; then
	[ "$(id -u)" != 0 ] || ldconfig
	ldconfig -p 2>/dev/null | grep -q " => $libdir/libwarpscope.so" ||
		echo "The loader does not look there by itself. For programs that use the library: LD_LIBRARY_PATH=$libdir"
fi
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "The shell does not look there by itself. For the program: PATH=$prefix/bin:\$PATH" ;;
esac
if command -v pkg-config >/dev/null && ! pkg-config --exists warpscope; then
	echo "pkg-config does not look there by itself. To build against the library: PKG_CONFIG_PATH=$libdir/pkgconfig"
fi
