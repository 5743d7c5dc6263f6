"$FAILSLOW" eval quick --filter fault=hang,magnitude=20 --gates
