#!/bin/sh
# Writes the data sets of this folder anew: datasets/generate.sh [path of simjob]. Same bytes every time.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
simjob=${1:-$here/../build/tests/property/simjob}
[ -x "$simjob" ] || { echo "generate.sh: no simjob at $simjob: build the tests first (scripts/test.sh)" >&2; exit 1; }
case $simjob in /*) ;; *) simjob=$(pwd)/$simjob ;; esac
cd "$here"

make_set() {
	name=$1
	shift
	rm -rf "faults/$name"
	"$simjob" "faults/$name" "$@"
}

# Onset in the middle, so that each job has a healthy past of its own.
make_set slow_rank fault=compute culprits=5 factor=1.19 onset=25 seed=11 compression=gz
make_set clean seed=12 compression=gz
make_set hang fault=hang culprits=6 onset=30 steps=40 seed=13
make_set slow_dataloader fault=dataloader culprits=4 extra_ms=250 onset=20 seed=14 timelines=all compression=gz
make_set slow_link tp=2 dp=2 pp=2 fault=link culprits=2,6 extra_ms=150 onset=30 seed=15 compression=gz
make_set slow_storage tp=8 dp=1 fault=storage culprits=3 extra_ms=3000 ckpt=10 seed=16 timelines=all compression=gz
make_set missing_rank tp=8 dp=1 fault=missing culprits=5 seed=17 steps=40 format=json compression=gz
make_set host_bound tp=8 dp=1 fault=host culprits=3 factor=1.25 onset=20 seed=18 compression=zst

find faults -type f | LC_ALL=C sort | xargs sha256sum >SHA256SUMS
