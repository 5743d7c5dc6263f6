# Rank 1 loses the CPU to nobody in steps 8 to 15.
python3 "$CASES/hostbound/traces.py" job marks quota=8-15
"$FAILSLOW" hostbound job
