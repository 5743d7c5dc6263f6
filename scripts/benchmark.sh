#!/bin/sh
# Speed of `failslow detect` on generated marker files: scripts/benchmark.sh [MB] (default 256). Needs scripts/test.sh before.
set -eu
. "$(dirname "$0")/lib.sh"
megabytes=${1:-256}
failslow=$build/failslow
if [ ! -x "$failslow" ]; then
	fail "there is no build" "run scripts/test.sh first"
fi

# 8 ranks, 33 operators a step of about 200 bytes and rank; 1 MB is about 17 steps.
work=$(mktemp -d "$build/benchmark.XXXXXX")
trap 'rm -rf "$work"' EXIT INT TERM
"$failslow" simulate "$work/job" tp=8 dp=1 pairs=8 step_ms=72 transfer_ms=0.1 optimizer_ms=8 "steps=$((megabytes * 17))" \
	fault="compute ranks=3 factor=1.3 onset=$((megabytes * 8))" >"$work/simulate.log"
now=$(sed -n 's/.*--now \([0-9]*\).*/\1/p' "$work/simulate.log")
bytes=$(cat "$work"/job/mspti/* | wc -c)
mb=$(awk -v b="$bytes" 'BEGIN { printf "%.1f", b / 1e6 }')

# seconds COMMAND...: the best of three runs, wall time.
seconds() {
	best=
	for _ in 1 2 3; do
		begin=$(date +%s.%N)
		"$@" >/dev/null 2>"$work/err" || { cat "$work/err" >&2; exit 1; }
		best=$(awk -v a="$begin" -v b="$(date +%s.%N)" -v best="$best" \
			'BEGIN { t = b - a; print (best == "" || t < best) ? t : best }')
	done
	echo "$best"
}
read_all() { cat "$work"/job/mspti/*; }
count_lines() { cat "$work"/job/mspti/* | wc -l; }
detect() { "$failslow" --config "$work/job/model_config.json" --now "$now" --output "$work/out" --jobs "$1" --format json; }

read_all >/dev/null # into the page cache
base=$(seconds read_all)
printf '%s MB of markers, 8 ranks, %s cores\n\n' "$mb" "$(getconf _NPROCESSORS_ONLN)"
printf '%-28s %9s %9s %12s\n' what seconds MB/s "times cat"
show() {
	awk -v name="$1" -v t="$2" -v mb="$mb" -v base="$base" \
		'BEGIN { printf "%-28s %9.3f %9.0f %12.1f\n", name, t, mb / t, t / base }'
}
show "cat" "$base"
show "wc -l" "$(seconds count_lines)"
if [ -x "$build/tests/read_only" ]; then
	show "read and pair, 1 thread" "$(seconds "$build/tests/read_only" "$work/job/mspti")"
fi
show "failslow detect, 1 thread" "$(seconds detect 1)"
show "failslow detect, all cores" "$(seconds detect 0)"
if [ -x /usr/bin/time ]; then
	/usr/bin/time -f '%M' -o "$work/rss" "$failslow" --config "$work/job/model_config.json" --now "$now" \
		--output "$work/out" --format json >/dev/null 2>&1
	printf '\npeak memory %s MB\n' "$(awk '{ printf "%.0f", $1 / 1024 }' "$work/rss")"
fi
