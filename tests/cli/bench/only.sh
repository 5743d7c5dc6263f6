"$FAILSLOW" bench --size 4 --only memcpy,read,newlines,libcsv,csv
