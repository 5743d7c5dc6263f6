# OpenMP ends a program whose threads it cannot make, with the exit code of an anomaly. Here its stacks are larger
# than any address space.
"$FAILSLOW" simulate job tp=4 dp=2 steps=30 >/dev/null
export OMP_STACKSIZE=200000G
forced() {
    code=0
    "$FAILSLOW" "$@" >told 2>&1 || code=$?
    grep '^failslow: ' told
    echo "$1: exit $code"
}
forced detect job -j 2 --now 1750000060 --output results --exit-code --quiet
forced detect job -j 5 --now 1750000060 --output results --exit-code --format json
forced profile "$DATASETS/profile/slow_rank" -j 3 --exit-code
forced eval quick --limit 1 -j 3
"$FAILSLOW" detect job -j 1 --now 1750000060 --output results --exit-code --quiet
