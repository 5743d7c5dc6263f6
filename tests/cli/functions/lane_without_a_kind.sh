# Rules that are none are refused before anything is read.
for rule in python '^a=gpu' '=python' '(=kernel'; do
	"$FAILSLOW" functions absent --lane "$rule" || true
	"$FAILSLOW" profile absent --lane "$rule" || true
done
