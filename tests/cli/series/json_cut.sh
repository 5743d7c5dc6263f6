printf '[1, 2,\n3' > cut.json
"$FAILSLOW" series cut.json
