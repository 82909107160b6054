# a block of a cooperative launch left before the barrier of the grid: no cooperative launch is advised
warpscope run tests/data/sim/reasons.O3.fatbin --kernel phases --cooperative --grid 4 --block 32 --max-instructions 100000 --buffer 'out=s32[128]' --arg '&out' --arg 3 2>/dev/null | sed -n '1,/^A thread/p'
