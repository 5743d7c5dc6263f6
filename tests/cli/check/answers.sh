# What the last run found, by exit code: 0 nothing, 1 something, 2 unknown.
"$FAILSLOW" simulate slow tp=4 dp=2 steps=60 fault="compute ranks=5 factor=1.5" >/dev/null
"$FAILSLOW" simulate well tp=4 dp=2 steps=60 >/dev/null
ask() {
	"$FAILSLOW" check --output out "$@" && echo "exit 0" || echo "exit $?"
}
ask --now 1750000100
"$FAILSLOW" detect well --now 1750000100 --output out --quiet
ask --now 1750000700
"$FAILSLOW" detect slow --now 1750000100 --output out --quiet
ask --now 1750000700
ask --now 1750000700 --job well
ask --now 1750000700 --host 10.1.0.1
ask --now 1750000700 --host 10.1.0.9
ask --now 1750000700 --nagios
ask --now 1750000700 --job another
ask --now 1750090000 --nagios
"$FAILSLOW" check --output out | awk '{ print (length($0) <= 80) }'
