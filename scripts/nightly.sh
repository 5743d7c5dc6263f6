#!/bin/sh
# Runs in whole what .ci/run samples: about two and a half hours on two processors. Each part has a line in the table at the end;
# the exit code is 1 if one failed. Logs and builds go to build-nightly/.
#
#   scripts/nightly.sh                             all parts
#   scripts/nightly.sh --only memory,kill          some of them
#   scripts/nightly.sh --only fuzz --fuzz-seconds 60
set -u
. "$(dirname "$0")/lib.sh"
cd "$root" || exit 2

all_parts="memory limits calls kill fuzz tsan peers package cross"
parts=$all_parts
fuzz_seconds=300
nightly=$root/build-nightly
log_dir=$nightly/log
release=$nightly/release
jobs=$(getconf _NPROCESSORS_ONLN)

usage() {
	cat <<USAGE
usage: scripts/nightly.sh [--only PART[,PART]...] [--fuzz-seconds N]

  memory   each request for memory of whole commands fails once
  limits   each command below limits of memory, threads, descriptors and bytes of a file
  calls    each system call of detect and profile fails once
  kill     detect and profile are killed at each system call, and run again; 2,000 runs of a job that grows
  fuzz     each fuzz target runs for N seconds (300), from its corpus; as many at once as there are processors
  tsan     unit tests and command lines with the thread sanitizer
  peers    tests against the receivers of alarms (ctest label peers)
  package  packages are built, installed, used and removed, under systemd
  cross    unit tests and a verdict of a build for 64-bit ARM, in an emulator
USAGE
}

while [ $# -gt 0 ]; do
	case $1 in
	--only)
		parts=$(printf '%s' "${2:-}" | tr ',' ' ')
		shift
		;;
	--fuzz-seconds)
		fuzz_seconds=${2:-}
		shift
		;;
	-h | --help)
		usage
		exit 0
		;;
	*)
		usage >&2
		exit 2
		;;
	esac
	shift || break
done
if [ -z "$parts" ]; then
	usage >&2
	exit 2
fi
for part in $parts; do
	case " $all_parts " in
	*" $part "*) ;;
	*)
		usage >&2
		exit 2
		;;
	esac
done
case $fuzz_seconds in
'' | *[!0-9]*)
	usage >&2
	exit 2
	;;
esac

release_build() {
	configure "$release" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFSL_TESTS=ON && ninja -C "$release" "$@"
}

python_check() {
	python3 "$@" 2>&1
	code=$?
	[ $code -eq 77 ] && echo "NOT RUN"
	return $code
}

part_memory() {
	release_build failslow fsl_fail_shim &&
		python_check tests/memory/check_memory.py "$release/failslow" "$release"/tests/memory/libfsl_fail_shim.so \
			"$root/datasets" 1
}

part_limits() {
	release_build failslow && python_check tests/torture/check_limits.py "$release/failslow" "$root/datasets" all
}

part_calls() {
	release_build failslow && python_check tests/torture/check_syscalls.py "$release/failslow" "$root/datasets" fail 1
}

part_kill() {
	release_build failslow && python_check tests/torture/check_syscalls.py "$release/failslow" "$root/datasets" kill 1 &&
		python_check tests/alarm/check_many_runs.py "$release/failslow" --runs 2000 --seed 2
}

# What a target finds is kept in build-nightly/found; the corpus in the tree stays as it is.
fuzz_one() {
	target=$1
	name=${target#fuzz_}
	grown=$nightly/grown/$name
	mkdir -p "$grown" "$nightly/found"
	"$nightly/fuzz/tests/fuzz/$target" -max_total_time="$fuzz_seconds" -timeout=20 -rss_limit_mb=2048 -jobs=0 \
		-print_final_stats=1 -verbosity=0 -artifact_prefix="$nightly/found/$name-" "$grown" \
		"tests/fuzz/corpus/$name" >"$log_dir/$target.log" 2>&1
	code=$?
	n_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log_dir/$target.log")
	echo "$name: ${n_runs:-no} executions, exit code $code"
	return $code
}

part_fuzz() {
	if ! command -v clang >/dev/null 2>&1; then
		echo "clang is not installed"
		return 77
	fi
	targets=$(for path in tests/fuzz/fuzz_*.c; do basename "$path" .c; done)
	# shellcheck disable=SC2086 # one argument per target
	configure "$nightly/fuzz" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFSL_TESTS=ON -DCMAKE_C_COMPILER=clang \
		-DFSL_SANITIZE=address,undefined -DFSL_FUZZ=ON && ninja -C "$nightly/fuzz" $targets || return 1
	n_bad=0
	# shellcheck disable=SC2086 # one argument per target
	set -- $targets
	while [ $# -gt 0 ]; do
		running=
		for _ in $(seq "$jobs"); do
			[ $# -gt 0 ] || break
			fuzz_one "$1" &
			running="$running $!"
			shift
		done
		for process in $running; do
			wait "$process" || n_bad=$((n_bad + 1))
		done
	done
	echo "$n_bad targets found something: $nightly/found"
	[ "$n_bad" -eq 0 ]
}

# LLVM's OpenMP is not instrumented: its own tool tells the sanitizer where threads meet.
archer() {
	for path in /usr/lib/llvm-*/lib/libarcher.so /usr/lib64/libarcher.so; do
		[ -e "$path" ] && echo "$path" && return
	done
}

# Without tests that measure, and without those that run the same code again to look at other figures or texts.
# Without test_deadline: this sanitizer hands a signal on when a library is called, and a loop of that test calls none.
part_tsan() {
	if ! command -v clang >/dev/null 2>&1; then
		echo "clang is not installed"
		return 77
	fi
	configure "$nightly/tsan" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DFSL_TESTS=ON -DCMAKE_C_COMPILER=clang \
		-DFSL_SANITIZE=thread && ninja -C "$nightly/tsan" &&
		OMP_TOOL_LIBRARIES=$(archer) TSAN_OPTIONS="ignore_noninstrumented_modules=1" ctest --test-dir "$nightly/tsan" --output-on-failure \
			-j "$jobs" -L 'unit|detector|profile|cli' -E 'docs\.|cli\.terminal|test_deadline|_schemas?$'
}

part_peers() {
	release_build failslow || return 1
	ninja -C "$release" kafka_mock || echo "without librdkafka there is no broker to tell"
	ctest --test-dir "$release" -C peers -L peers --no-tests=error --output-on-failure -j "$jobs" || return 1
	grep -q ' Passed ' "$log_dir/peers.log" || return 77
}

part_package() {
	if [ ! -x scripts/package_test.sh ]; then
		echo "there is no scripts/package_test.sh"
		return 77
	fi
	scripts/package_test.sh
}

part_cross() {
	FAILSLOW_BUILD=$nightly scripts/cross_test.sh "$nightly/cross"
}

mkdir -p "$log_dir"
table=$nightly/table
: >"$table"
n_failed=0
for part in $parts; do
	begin=$(date +%s)
	"part_$part" >"$log_dir/$part.log" 2>&1 </dev/null
	case $? in
	0) result=ok ;;
	77) result="not run" ;;
	*)
		result=FAILED
		n_failed=$((n_failed + 1))
		;;
	esac
	printf '%-8s  %-7s  %6d s  %s\n' "$part" "$result" "$(($(date +%s) - begin))" "$log_dir/$part.log" |
		tee -a "$table"
	[ "$result" = FAILED ] && tail -n 25 "$log_dir/$part.log" | sed 's/^/  | /'
done
printf '\n%s\n' "part      result       time  log"
cat "$table"
[ "$n_failed" -eq 0 ]
