# a kernel that comes to its end: what it printed, then the buffer
warpscope run tests/data/sim/integer.O3.fatbin --kernel int_collatz --grid 2 --block 32 --buffer 'out=u32[64]' --arg '&out' --arg 60 --print out:9
