"$FAILSLOW" list detectors
