"$FAILSLOW" simulate job write=steps steps=60 fault="restart onset=40 back=10 extra_ms=90000"
sed -n '1p;40,43p' job/steps/*
grep '"root_path"' job/model_config.json
"$FAILSLOW" simulate job steps=8 > /dev/null # of markers: the step times go
ls job job/steps
