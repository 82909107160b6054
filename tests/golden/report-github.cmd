# an annotation at the first line that is the user's; '%', ':' and ',' of names are escaped
warpscope report --format github examples/dumps/illegal-address.nvcudmp
