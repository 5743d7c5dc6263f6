# Clocks that are 7 ms wrong are noticed: the ranks do not run when they call. If the trace does not name its clock, and
# steps are not all alike, the right one is estimated.
python3 "$CASES/hostbound/traces.py" job markers hog=12-23 shift=7000000
"$FAILSLOW" hostbound job
python3 "$CASES/hostbound/traces.py" unnamed markers hog=12-23 shift=7000000 uneven unnamed
"$FAILSLOW" hostbound unnamed
