# Clocks that are 7 ms wrong are noticed: the ranks do not run when they call.
python3 "$CASES/hostbound/traces.py" job markers hog=12-23 shift=7000000
"$FAILSLOW" hostbound job
