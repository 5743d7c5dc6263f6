# The folder of the inputs is gone, and who started it sees the signal.
for signal in INT TERM; do
	mkdir here
	env --default-signal=INT "$FAILSLOW" bench --size 16 --dir here &
	while [ -z "$(ls here)" ]; do sleep 0.05; done
	kill -s $signal $!
	wait $! || echo "$signal $?"
	rmdir here
done
