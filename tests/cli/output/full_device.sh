# What cannot be written is an error with its reason.
"$FAILSLOW" config keys > /dev/full
