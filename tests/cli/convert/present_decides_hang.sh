# The summary says what detect says: whether the job hangs depends on the present.
for now in 2025-06-15T15:07:15Z 2025-06-15T16:30:00Z; do
	"$FAILSLOW" convert "$DATASETS/faults/hang" --now $now -o job.json
	"$FAILSLOW" detect "$DATASETS/faults/hang" --now $now --format line
	grep process_labels job.json
done
