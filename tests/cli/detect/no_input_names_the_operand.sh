# DIR stands on the command line: the configuration is not all that can be corrected.
mkdir empty
"$FAILSLOW" detect nowhere --quiet --output results || echo "exit code $?"
"$FAILSLOW" detect empty --quiet --output results || echo "exit code $?"
