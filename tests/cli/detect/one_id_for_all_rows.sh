# A rank whose rows all have one id: instances of which no member has a record, and operators put back with nothing known before them.
"$FAILSLOW" simulate job tp=2 dp=2 pairs=6 steps=60 seed=11 timelines=first >/dev/null
file=$(ls job/mspti/*.0.csv)
awk -F, -v OFS=, 'NR > 1 { $2 = 7 } { print }' "$file" >same.csv
cp same.csv "$file"
"$FAILSLOW" detect job --output out --now 1750000150000000000 | sed -n 1,1p
