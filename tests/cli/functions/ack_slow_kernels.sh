# The same form, with one rank whose kernels take 1.5 times as long.
python3 "$CASES/functions/ack.py" traces kernels=1
"$FAILSLOW" functions traces --function gemm
"$FAILSLOW" profile traces --format line
"$FAILSLOW" profile traces --long | grep -A 1 "ACK AI"
