# The cores of rank 5 are slow in one step of six: that is told, and nobody is named for the job as a whole.
sed -e 's/STEPS = 8, 2, (10, 11, 12)/STEPS = 8, 2, (10, 11, 12, 13, 14, 15)/' \
	-e 's/SLOW_MHZ = 5, 1800, 1550/SLOW_MHZ = 5, 1800, 1300/' \
	-e 's/if self.rank == SLOW_RANK else/if self.rank == SLOW_RANK and step == 12 else/' \
	-e 's/clock = SLOW_MHZ if .*/clock = CLOCK_MHZ/' "$DATASETS/generate_profile.py" > one_step.py
python3 one_step.py captures
"$FAILSLOW" profile captures --long
"$FAILSLOW" profile captures --steps 10-11,13-15 | sed -n 1,1p
