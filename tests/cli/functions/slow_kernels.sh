# Kernels of rank 3 take 1.5 times as long.
python3 "$CASES/functions/traces.py" traces kernels=3
"$FAILSLOW" functions traces
echo
"$FAILSLOW" functions traces --function gemm
