# As many mistakes as are told, and more.
{ echo ".arch sm_90"; echo ".kernel f"; yes NOTHING | head -n 150; echo .end; } > "$DUMPS.s"; warpscope as -o "$DUMPS.cubin" "$DUMPS.s" 2>&1 | sed -n '1p;$p'; test ! -e "$DUMPS.cubin"; rm "$DUMPS.s"
