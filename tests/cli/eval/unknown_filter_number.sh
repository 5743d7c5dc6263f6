"$FAILSLOW" eval quick --filter "ranks=8|640"
