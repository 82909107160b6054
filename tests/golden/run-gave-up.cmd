# a trap behind a wait that timed out: the page names the wait
warpscope run tests/data/reports/stop.fatbin --arch sm_90 --kernel deepep_158 --grid 2 --buffer t=s32[2]:3 --buffer o=s32[2] --arg '&t' --arg '&o' --arg 8 --arg 50
