# Nobody waits longer than usual.
python3 "$CASES/hostbound/traces.py" job marks
"$FAILSLOW" hostbound job --exit-code
