"$FAILSLOW" eval quick --filter fault=link,ranks=8 --baselines none
