#!/bin/sh
# Second command: the same preparation as quickstart.sh, then all tests. Arguments are further options of CMake.
set -eu
. "$(dirname "$0")/lib.sh"

ensure_packages build test
stage "configure" "$configure_hint" configure "$build" -DCMAKE_BUILD_TYPE=Release -DFSL_TESTS=ON -DFSL_MPI=OFF "$@"
stage "build" "$compile_hint" ninja -C "$build"
stage "tests" "see what they say: ctest --test-dir $build --rerun-failed --output-on-failure" \
	ctest --test-dir "$build" --output-on-failure -j "$(getconf _NPROCESSORS_ONLN)"
sed -n '/tests passed/,$p' "$log_dir/tests.log"
