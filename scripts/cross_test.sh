#!/bin/sh
# Builds failslow and its tests for 64-bit ARM in a root file system of Debian 12, runs the unit tests in the emulator of
# qemu, and compares a verdict with that of this machine. As root, with network; takes some minutes on two processors.
#   cross_test.sh [FOLDER]    FOLDER keeps the root file system and the build (default: build/cross)
set -eu
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/debian_root.sh"

work=${1:-$build/cross}
mkdir -p "$work"
work=$(cd "$work" && pwd)
log_dir=$work/log
jobs=$(getconf _NPROCESSORS_ONLN)
[ "$(id -u)" = 0 ] || fail "debootstrap and chroot need root" "run it as root"

# Tools run here; libraries are those of the other architecture, libgomp1 by hand because the compiler brings its own.
cross_packages() {
	manager=apt
	wanted_packages build test | tr ' ' '\n' | sed -n '/./p' | while read -r name; do
		case $name in
		gcc) echo gcc-aarch64-linux-gnu ;;
		lib*-dev | zlib1g-dev) echo "$name:arm64" ;;
		*) echo "$name" ;;
		esac
	done
	echo "libgomp1:arm64 qemu-user-static procps"
}

cross_root() {
	chroot=$work/root
	if [ ! -e "$work/root.done" ]; then
		fresh_debian "$chroot" && in_root dpkg --add-architecture arm64 && in_root apt-get update || return 1
		: >"$work/root.done"
	fi
	# shellcheck disable=SC2046 # one argument per package
	in_root apt-get install -y --no-install-recommends $(cross_packages)
}

cross_build() {
	rm -rf "$chroot/src"
	mkdir "$chroot/src"
	git -C "$root" archive HEAD | tar -x -C "$chroot/src"
	in_root cmake -S /src -B /build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFSL_TESTS=ON -DFSL_WERROR=ON \
		-DCMAKE_TOOLCHAIN_FILE=/src/cmake/aarch64-linux-gnu.cmake && in_root ninja -C /build
}

# Without the tests that start the program by its name: the emulator runs the first program alone. `failslow bench` too
# starts itself.
cross_tests() {
	in_root env OMP_WAIT_POLICY=passive ctest --test-dir /build -L unit -j "$jobs" --output-on-failure --timeout 600 \
		-E '_schemas?$|test_bench$'
}

native_build() {
	configure "$work/native" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFSL_TESTS=OFF && ninja -C "$work/native" failslow
}

now=2025-06-15T15:08:00Z
same_verdict() {
	in_root env LC_ALL=C.UTF-8 qemu-aarch64-static /build/failslow detect /src/datasets/faults/slow_rank --now $now >"$work/arm64.txt" &&
		(cd "$root" && LC_ALL=C.UTF-8 "$work/native/failslow" detect datasets/faults/slow_rank --now $now) >"$work/native.txt" || return 1
	sed 's|/src/||' "$work/arm64.txt" | diff "$work/native.txt" - && cat "$work/arm64.txt"
}

manager=apt
ensure_packages build
hint='read the log that is named above'
command -v debootstrap >/dev/null || fail "debootstrap is not installed" "apt-get install -y debootstrap"
stage "root with libraries of arm64" "is the mirror there? DEBIAN_MIRROR names another one" cross_root
stage "build for arm64" "$compile_hint" cross_build
stage "unit tests in the emulator" "$hint" cross_tests
stage "native build" "$compile_hint" native_build
stage "same verdict" "the log shows the difference" same_verdict
