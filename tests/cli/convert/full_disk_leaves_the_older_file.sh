# No room for the file, as on a full disk.
echo older >job.json
(
	ulimit -f 16
	"$FAILSLOW" convert "$DATASETS/faults/slow_rank" -o job.json || echo "exit code $?"
)
cat job.json
ls -A
