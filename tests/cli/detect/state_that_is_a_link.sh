# The state is neither made nor read through a link, in whatever folder.
"$FAILSLOW" simulate job tp=4 dp=1 steps=60 fault="compute ranks=1 factor=1.5" >/dev/null
export XDG_STATE_HOME="$PWD/own"
mkdir -m 755 results linked
ln -s "$PWD/absent" results/failslow_state.db
"$FAILSLOW" detect job --now 1750000300 --quiet --output results 2>&1
touch empty
ln empty linked/failslow_state.db
"$FAILSLOW" detect job --now 1750000310 --quiet --output linked 2>&1
ls absent 2>&1 || find empty -size 0
mkdir -m 755 kept
export XDG_STATE_HOME="$PWD/unused"
"$FAILSLOW" detect job --now 1750000320 --quiet --output kept
ls kept
ls own/failslow | sed 's/^[0-9a-f]*-/HASH-/' | sort
ls unused 2>&1 || true
