# Types, values and fields of parameters; the base of the address is a field.
tests/builders/faults.py "$DUMPS.faults" O3+types.sm_90; warpscope --no-source "$DUMPS.faults/O3+types.sm_90.bad_in_struct.nvcudmp"; rm -r "$DUMPS.faults"
