#!/bin/sh
# First command: installs what is needed, builds build/failslow, and shows its verdict on a job with a slow rank.
set -eu
. "$(dirname "$0")/lib.sh"

ensure_packages build
# Tests need more packages; they stay on when scripts/test.sh has switched them on.
if [ -f "$build/CMakeCache.txt" ]; then
	stage "configure" "$configure_hint" configure "$build"
else
	stage "configure" "$configure_hint" configure "$build" -DCMAKE_BUILD_TYPE=Release -DFSL_TESTS=OFF
fi
stage "build" "$compile_hint" ninja -C "$build" failslow

# The job ended long ago: --now is the moment at which it is judged, else it would look like a hang.
cd "$root"
data=datasets/faults/slow_rank
now=$(sed -n 's/.*"now_ns": \([0-9]*\).*/\1/p' "$data/truth.json")
shown=${build#"$root"/}
printf '\n$ %s/failslow --config %s/model_config.json --now %s --output %s/quickstart\n\n' "$shown" "$data" "$now" "$shown"
rm -rf "$shown/quickstart"
"$shown/failslow" --config "$data/model_config.json" --now "$now" --output "$shown/quickstart" ||
	fail "failslow ended with exit code $?" "the message above names file, place and remedy"
