# Against itself nothing grew; against a job whose rank 5 was as fast as the others, that rank did.
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --baseline "$DATASETS/profile/slow_rank" | grep -c baseline: || true
sed 's/CLOCK_MHZ, SLOW_MHZ = 5, 1800, 1550/CLOCK_MHZ, SLOW_MHZ = 5, 1800, 1800/' "$DATASETS/generate_profile.py" > healthy.py
python3 healthy.py healthy
"$FAILSLOW" profile "$DATASETS/profile/slow_rank" --baseline healthy | grep -o "[a-z_]*baseline: .*"
"$FAILSLOW" profile healthy --exit-code | sed -n 1,1p
