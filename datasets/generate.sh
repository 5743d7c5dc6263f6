#!/bin/sh
# Writes data sets with the jobs and faults of datasets/faults: datasets/generate.sh DIR [path of failslow].
# The files in datasets/faults themselves were written by an earlier simulator and are kept as they are: this makes sets of the
# same kind with `failslow simulate`, from other random numbers, and never touches datasets/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
target=${1:-}
failslow=${2:-$here/../build/failslow}
[ -n "$target" ] || { echo "generate.sh: name the folder to write, for instance: datasets/generate.sh build/sets" >&2; exit 2; }
[ -x "$failslow" ] || { echo "generate.sh: no failslow at $failslow: build it first (scripts/test.sh)" >&2; exit 1; }
mkdir -p "$target"
[ "$(cd "$target" && pwd)" != "$here" ] || { echo "generate.sh: datasets/ stays as it is, choose another folder" >&2; exit 2; }

# The calm job that the sets share: little noise, clocks that agree.
make_set() {
	name=$1
	shift
	"$failslow" simulate "$target/faults/$name" pairs=1 step_ms=960 hand_over_ms=9 reduce_ms=21 noise=0.005 noise_memory=0 \
		hetero=0.002 spikes=0 clock_ms=0 drift_ppm=0 p2p_groups=pipeline "$@"
}

# Onset in the middle, so that each job has a healthy past of its own.
make_set slow_rank seed=11 compression=gz fault="compute ranks=5 factor=1.19 onset=25"
make_set clean seed=12 compression=gz
make_set hang steps=40 seed=13 fault="hang ranks=6 onset=30"
make_set slow_dataloader seed=14 timelines=all compression=gz fault="dataloader ranks=4 extra_ms=250 onset=20"
make_set slow_link tp=2 dp=2 pp=2 seed=15 compression=gz fault="link ranks=2,6 extra_ms=150 onset=30"
make_set slow_storage tp=8 dp=1 ckpt=10 seed=16 timelines=all compression=gz fault="storage ranks=3 extra_ms=3000"
make_set missing_rank tp=8 dp=1 seed=17 steps=40 format=json compression=gz fault="missing ranks=5"
make_set host_bound tp=8 dp=1 seed=18 compression=zst fault="host ranks=3 factor=1.25 onset=20"

(cd "$target" && find faults -type f | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
