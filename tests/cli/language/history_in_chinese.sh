"$FAILSLOW" simulate job tp=4 dp=2 steps=60 ranks_per_host=4 seed=1 fault="compute ranks=2 factor=1.5" >/dev/null
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" history --output out || echo "exit $?"
"$FAILSLOW" detect job --now 1750000101 --output out --quiet
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" history --output out
LC_ALL=zh_CN.UTF-8 "$FAILSLOW" history --output out --repeat
