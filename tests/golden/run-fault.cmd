# the buffer is too small: the report of the stopped software GPU
warpscope run tests/data/sim/integer.O3.fatbin --kernel int_collatz --grid 2 --block 32 --buffer 'out=u32[40]' --arg '&out' --arg 60
