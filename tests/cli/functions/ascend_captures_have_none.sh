# Captures of Ascend devices have no such functions, and the verdict says so.
"$FAILSLOW" functions "$DATASETS/profile/slow_rank"
