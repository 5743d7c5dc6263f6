"$FAILSLOW" eval quick --filter fault=compute-on --gates --baselines none
