# One line however long it is, of captures and of a job, with the exit codes of the screen.
"$FAILSLOW" "$DATASETS/profile/slow_rank" --format line --exit-code || echo "exit code $?"
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --format line --ranks 0-3
"$FAILSLOW" detect "$DATASETS/faults/slow_rank" --format line
"$FAILSLOW" detect "$DATASETS/faults/clean" --format line --exit-code
