"$FAILSLOW" profile . --ranks 5-1 || echo "exit code $?"
"$FAILSLOW" profile . --ranks 0 --steps a || echo "exit code $?"
