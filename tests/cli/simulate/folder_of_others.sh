mkdir mine; echo x >mine/thesis.tex
"$FAILSLOW" simulate mine
