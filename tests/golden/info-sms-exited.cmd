# an SM without a warp is shown for its exception
warpscope info --wide examples/dumps/exited.nvcudmp sms
