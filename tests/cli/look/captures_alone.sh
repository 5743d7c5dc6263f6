# A folder with captures of the profiler needs no command of its own; nothing is written.
cp -r "$DATASETS/profile/slow_rank" captures
echo '{"notes": "of the user"}' > captures/notes.json
"$FAILSLOW" captures | sed -n 1,6p
"$FAILSLOW" captures --exit-code > text || echo "exit code $?"
"$FAILSLOW" captures --format json | grep -E '"verdict": "|"rank": 5,' | sed -n 1,2p
"$FAILSLOW" captures --from 2026-01-01T00:00:00Z || echo "exit code $?"
rm text
find . -newer captures/notes.json -type f
