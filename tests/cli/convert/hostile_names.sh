# Quotes, control bytes and broken UTF-8 in names.
printf 'Flag,Id,Kind,Name,SourceKind,Timestamp\n' >hccl_activity-10.0.0.1-.0.csv
printf '16,1,1,comm:Hccl\\x\x01\xff\xc3\xa9!g\t{1}!fp32!8,0,1750000000000000000\n32,1,1,,0,1750000000000000010\n' >>hccl_activity-10.0.0.1-.0.csv
printf '16,1,1,,1,1750000000000000005\n32,1,1,,1,1750000000000001005\n' >>hccl_activity-10.0.0.1-.0.csv
"$FAILSLOW" convert --no-verdict hccl_activity-10.0.0.1-.0.csv -o job.json
grep '"X"' job.json
