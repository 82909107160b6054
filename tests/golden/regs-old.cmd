# what an old driver did not save is named
warpscope regs $DUMPS/layout-r346.nvcudmp | grep -v "^R"
