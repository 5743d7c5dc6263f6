"$FAILSLOW" --version
"$FAILSLOW" -V
