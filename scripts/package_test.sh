#!/bin/sh
# Builds the packages of Debian and of rpm, and tries Debian's in a fresh Debian 12: install, run, upgrade, purge.
# As root, with network; takes some minutes. CI does not run it.
#   package_test.sh [FOLDER]    FOLDER keeps the packages and the root file system (default: build/packages)
set -eu
. "$(dirname "$0")/lib.sh"

work=${1:-$build/packages}
mkdir -p "$work"
work=$(cd "$work" && pwd)
log_dir=$work/log
chroot=$work/root
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
version=$(sed -n 's/^project(failslow VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
commit=$(git -C "$root" rev-parse HEAD)
[ "$(id -u)" = 0 ] || fail "debootstrap and chroot need root" "run it as root"
export PATH="/usr/lib/ccache:$PATH" DEBIAN_FRONTEND=noninteractive

packaging_tools() {
	apt-get install -y --no-install-recommends debhelper debootstrap dpkg-dev lintian rpm cpio
}

# sources FOLDER: the tree as it is committed.
sources() {
	rm -rf "$1"
	mkdir -p "$1"
	git -C "$root" archive "$commit" | tar -x -C "$1"
}

# build_deb NAME: packages in $work/NAME.
build_deb() {
	rm -rf "${work:?}/$1"
	sources "$work/$1/failslow-$version"
	cp -r "$work/$1/failslow-$version/packaging/debian" "$work/$1/failslow-$version"
	(cd "$work/$1/failslow-$version" && DEB_BUILD_OPTIONS="nocheck noautodbgsym" dpkg-buildpackage -us -uc -b)
}

# Two builds in two folders give the same bytes.
same_bytes() {
	for package in "$work"/one/*.deb; do
		cmp "$package" "$work/two/$(basename "$package")" || return 1
		echo "same: $(basename "$package")"
	done
}

contents() {
	for package in "$work"/one/*.deb; do
		dpkg-deb --info "$package" && dpkg-deb --contents "$package" || return 1
	done
	dpkg-deb --contents "$work/one/failslow_"*.deb | grep -q 'usr/bin/systrace-failslow' &&
		! dpkg-deb --contents "$work/one/failslow_"*.deb | grep -q '/usr/include/' &&
		dpkg-deb --contents "$work/one/failslow-dev_"*.deb | grep -q '/usr/include/failslow/detector.h' &&
		dpkg-deb --contents "$work/one/failslow-doc_"*.deb | grep -q 'doc/failslow/operations/configuration.md' &&
		! dpkg-deb --field "$work/one/failslow_"*.deb Depends | grep -q openblas
}

fresh_debian() {
	[ -e "$chroot/etc/debian_version" ] && [ -e "$work/root.done" ] && return 0
	rm -rf "$chroot"
	debootstrap --variant=minbase bookworm "$chroot" "$mirror" && touch "$work/root.done"
}

in_root() {
	chroot "$chroot" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# Without recommended packages, so without OpenBLAS.
install_deb() {
	rm -rf "$chroot/tmp/packages" "$chroot/tmp/job"
	mkdir -p "$chroot/tmp/packages"
	cp "$work"/one/*.deb "$chroot/tmp/packages"
	cp -r "$root/datasets/faults/slow_rank" "$chroot/tmp/job"
	# shellcheck disable=SC2016 # the shell in the root file system expands it
	in_root apt-get update &&
		in_root sh -c 'apt-get install -y --no-install-recommends \
			$(dpkg-deb --field /tmp/packages/failslow_*.deb Depends | tr "," "\n" | sed "s/ (.*//; s/|.*//")' &&
		in_root sh -c 'dpkg -i /tmp/packages/*.deb'
}

now=2025-06-15T15:08:00Z
verdict() {
	in_root failslow detect /tmp/job --now $now --format line
}

run_installed() {
	in_root failslow version >"$work/version.txt" && cat "$work/version.txt" &&
		grep -q 'OpenBLAS *absent' "$work/version.txt" &&
		verdict >"$work/plain.txt" && cat "$work/plain.txt" &&
		grep -q '^SLOW RANK: rank 5 ' "$work/plain.txt" &&
		[ "$(in_root systrace-failslow --version)" = "failslow $version" ] &&
		in_root failslow config where >"$work/where.txt" && cat "$work/where.txt" &&
		grep -q '^/etc/failslow/model_config.json .*in use' "$work/where.txt" &&
		in_root failslow config check --strict /etc/failslow/model_config.json &&
		in_root bash -n /usr/share/bash-completion/completions/failslow
}

with_openblas() {
	in_root apt-get install -y --no-install-recommends libopenblas0-serial &&
		in_root failslow version | grep 'OpenBLAS *[0-9]' &&
		verdict >"$work/blas.txt" && cmp "$work/plain.txt" "$work/blas.txt"
}

# The same content under a later version: a changed configuration stays, and the program runs.
upgrade() {
	rm -rf "$work/later" && mkdir -p "$work/later"
	for package in "$work"/one/*_*.deb; do
		name=$(basename "$package" | sed 's/_.*//')
		dpkg-deb --raw-extract "$package" "$work/later/$name" || return 1
		sed -i "s/^Version: .*/Version: $version-2/; s/>= $version-1/>= $version-2/" "$work/later/$name/DEBIAN/control"
		dpkg-deb --root-owner-group --build "$work/later/$name" "$chroot/tmp/packages/later-$name.deb" || return 1
	done
	sed -i 's/"k_sigma": 3/"k_sigma": 4/' "$chroot/etc/failslow/model_config.json"
	# shellcheck disable=SC2016 # dpkg-query expands it
	in_root sh -c 'dpkg -i /tmp/packages/later-*.deb' &&
		in_root dpkg-query -W -f '${Version}\n' failslow | grep -qx "$version-2" &&
		grep -q '"k_sigma": 4' "$chroot/etc/failslow/model_config.json" &&
		in_root failslow detect /tmp/job --config /etc/failslow/model_config.json --now $now --format line
}

# Nothing of failslow's is left, also not what it wrote: the run above used the default folders.
purge() {
	in_root failslow --config /etc/failslow/model_config.json --quiet || true
	find "$chroot/etc/systrace" "$chroot/var/lib/failslow" 2>/dev/null || true
	mkdir -p "$chroot/etc/systrace/result/slow_node"
	echo '{"resultCode": 200}' >"$chroot/etc/systrace/result/slow_node/slow_node_result_1.json"
	in_root dpkg --purge failslow-doc failslow-dev failslow || return 1
	# sysTrace's own file has stayed.
	rm "$chroot/etc/systrace/result/slow_node/slow_node_result_1.json" || return 1
	rm -rf "$chroot/tmp/packages" "$chroot/tmp/job"
	[ -z "$(find "$chroot/etc/systrace" -type f)" ] || return 1
	rm -rf "$chroot/etc/systrace"
	left=$(find "$chroot" -xdev -iname '*failslow*' -not -path "$chroot/proc/*" \
		-not -path "$chroot/var/log/*")
	echo "left: $left"
	[ -z "$left" ]
}

lint() {
	lintian --fail-on error --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs \
		"$work"/one/*.deb
}

build_rpm() {
	top=$work/rpm
	rm -rf "$top" && mkdir -p "$top/SOURCES"
	git -C "$root" archive --prefix="failslow-$version/" -o "$top/SOURCES/failslow-$version.tar.gz" "$commit"
	# On Debian the libraries come from its own packages, so rpm knows none of them.
	rpmbuild -bb --nodeps --without check --define "_topdir $top" --define "_unitdir /usr/lib/systemd/system" \
		--define "systemd_post true" --define "systemd_preun true" "$root/packaging/failslow.spec"
}

rpm_contents() {
	for package in "$work"/rpm/RPMS/*/*.rpm; do
		rpm -qip "$package" && rpm -qlp "$package" && rpm -qp --requires --recommends "$package" || return 1
	done
	rpm -qlp "$work"/rpm/RPMS/*/failslow-"$version"*.rpm | grep -qx /usr/bin/systrace-failslow &&
		rpm -qlp "$work"/rpm/RPMS/*/failslow-devel-"$version"*.rpm | grep -qx /usr/include/failslow/detector.h &&
		! rpm -qp --requires "$work"/rpm/RPMS/*/failslow-"$version"*.rpm | grep -q openblas
}

ensure_packages build
hint='read the log that is named above'
stage "packaging tools" "install debhelper debootstrap dpkg-dev lintian rpm" packaging_tools
stage "Debian packages" "$hint" build_deb one
stage "Debian packages once more" "$hint" build_deb two
stage "both builds have the same bytes" "compare them with diffoscope" same_bytes
stage "contents" "$hint" contents
stage "lintian" "$hint" lint
stage "fresh Debian 12" "is the mirror there? DEBIAN_MIRROR names another one" fresh_debian
stage "install" "$hint" install_deb
stage "run without OpenBLAS" "$hint" run_installed
stage "run with OpenBLAS" "$hint" with_openblas
stage "upgrade" "$hint" upgrade
stage "purge" "what is left stands in the log" purge
stage "rpm packages" "$hint" build_rpm
stage "contents of the rpm packages" "$hint" rpm_contents
