#!/bin/sh
# Installs the packages of tools/packages.txt (and of further lists given as arguments) that are missing. Waits 5 minutes for
# another installation to end: a fresh machine often updates itself.
set -eu
cd "$(dirname "$0")"
missing=
for package in $(sed 's/#.*//' packages.txt "$@"); do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed$' ||
		missing="$missing $package"
done
[ -n "$missing" ] || exit 0
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
[ -z "$sudo" ] || sudo -v # asks for the password while it can be seen
./quietly.sh "Reading the list of packages ..." $sudo apt-get -o DPkg::Lock::Timeout=300 update -q
# shellcheck disable=SC2086
./quietly.sh "Installing$missing ..." \
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -q --no-install-recommends $missing
