# A trace alone tells its threads.
python3 "$CASES/hostbound/traces.py" job
"$FAILSLOW" hostbound job
