# The nearest lines are told, of a file and of a folder.
! "$FAILSLOW" detect "$DATASETS/logs/unknown.log" -qq
mkdir logs
cp "$DATASETS/logs/unknown.log" logs/
"$FAILSLOW" detect logs -qq
