"$FAILSLOW" config check nowhere.json
