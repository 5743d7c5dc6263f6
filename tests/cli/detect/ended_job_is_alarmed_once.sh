# Cron looks at the folder of a job that ended days ago: told once more when it stops, and not every look_back (20 minutes).
"$FAILSLOW" simulate job tp=8 dp=1 steps=60 fault="compute ranks=3 factor=1.3 onset=30" >/dev/null
for now in 2025-06-15T15:08:00Z 2025-06-15T15:30:00Z 2025-06-17T15:08:00Z 2025-06-20T15:08:00Z; do
	code=0
	"$FAILSLOW" detect job --output out --now $now --exit-code --quiet --from 2025-06-15 || code=$?
	echo "$now $code"
done
