# A baseline that is not there is an error, not a job in which nothing grew.
python3 "$CASES/functions/traces.py" traces ranks=3
"$FAILSLOW" functions traces --baseline absent
