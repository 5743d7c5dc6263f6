# The manual's example: verdicts in a folder of their own, nothing written into the data.
cp -r "$DATASETS/faults/slow_rank" slow_rank
find slow_rank -type f | sort | xargs sha256sum > before
"$FAILSLOW" slow_rank --now 1750000066892495774 --output verdicts
find slow_rank -type f | sort | xargs sha256sum | cmp - before
ls verdicts | sed 's/_[0-9]*\.json$/_SECONDS.json/'
