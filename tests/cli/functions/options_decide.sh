# Kernels of 1.5 times the time differ from the others by less than 1.
python3 "$CASES/functions/traces.py" traces kernels=3
"$FAILSLOW" functions traces --section compute --delta 1 --function gemm
