# Code that differs in three bytes of two instructions from what the store has; what it has, as data.
S=$(mktemp -d) && trap 'rm -r "$S"' EXIT; C=tests/data/cubins/calls.G.sm_80.cubin
cp $C "$S/patched"; printf '\001\002' | dd of="$S/patched" bs=1 seek=32160 conv=notrunc status=none; printf '\003' | dd of="$S/patched" bs=1 seek=32192 conv=notrunc status=none
warpscope store --store "$S/store" add "$S/patched" | sed "s,$S,OUT,"
for form in "" --json; do warpscope store --store "$S/store" find $form $C | sed "s,$S,OUT,"; done
warpscope store --store "$S/store" --json list | sed "s,$S,OUT,"
