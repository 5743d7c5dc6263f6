# The first place with a file is in use; FAILSLOW_CONFIG is, even without a file.
unset FAILSLOW_CONFIG
export XDG_CONFIG_HOME=$PWD/xdg
mkdir -p xdg/failslow .config/failslow prefix/bin prefix/etc/failslow
cp "$FAILSLOW" prefix/bin/failslow
echo '{"k_sigma": 4}' | tee xdg/failslow/model_config.json .config/failslow/model_config.json > prefix/etc/failslow/model_config.json
used() { prefix/bin/failslow config where --format json | python3 -c '
import json, sys
for place in json.load(sys.stdin):
    if place["origin"] != "system" and place["origin"] != "systrace":
        print(place["origin"], place["path"], place["inUse"], place["state"])'; }
used
chmod o+w xdg/failslow/model_config.json
used
unset XDG_CONFIG_HOME
used
rm .config/failslow/model_config.json
used
prefix/bin/failslow config check
FAILSLOW_CONFIG=$PWD/absent.json used
FAILSLOW_CONFIG=$PWD/absent.json prefix/bin/failslow config check || echo "code $?"
