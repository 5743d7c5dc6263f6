# Steps that ran again after a restart count once, and the restart is told.
line='iteration %d/ 900 | consumed samples: 1 | elapsed time per iteration (ms): %d.0 | lr: 1'
{
	for i in $(seq 1 60); do printf "$line\\n" "$i" $((1000 + i % 7)); done
	for i in $(seq 41 90); do printf "$line\\n" "$i" $((1000 + i % 5)); done
} >pretrain.log
"$FAILSLOW" detect pretrain.log --format json | grep -o 'restarted [^)"]*)' | sort -u
