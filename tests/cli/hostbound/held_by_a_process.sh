# Marks in the trace tell the steps; stress has the CPU of rank 1 in steps 10 to 20.
python3 "$CASES/hostbound/traces.py" job marks hog=10-20
"$FAILSLOW" hostbound job --exit-code
