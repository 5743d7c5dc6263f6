# Where no thread can be made one does all; the exit code of an anomaly is that of an anomaly. Root has no
# limit of threads. Who looks for leaks needs a thread.
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0"
chmod 755 .
cp "$FAILSLOW" program
cp -r "$DATASETS/profile/slow_rank" captures
./program simulate healthy tp=4 dp=2 steps=30 >/dev/null
./program simulate slow tp=2 dp=2 steps=60 fault="compute ranks=3 factor=1.5" >/dev/null
chmod -R a+rX .
mkdir -m 755 results
become=()
if [ "$(id -u)" = 0 ]; then
    chown 12345:12345 results
    become=(setpriv --reuid=12345 --regid=12345 --clear-groups)
fi
limited() {
    code=0
    "${become[@]}" bash -c 'ulimit -u 1; exec "$@"' - "$PWD/program" "$@" >told 2>&1 || code=$?
    grep '^failslow: ' told
    echo "$1: exit $code"
}
limited detect healthy -j 4 --now 1750000060 --output results/healthy --exit-code --quiet
limited detect slow -j 7 --now 1750000060 --output results/slow --exit-code --quiet
limited profile captures -j 3 --exit-code --quiet
limited eval quick --limit 1 -j 5
ls results/*
