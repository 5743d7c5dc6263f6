mkdir captures
"$FAILSLOW" profile captures
