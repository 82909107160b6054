# Markdown for an issue tracker: fenced detail, long lists folded, names escaped in prose.
warpscope report --format md --source-map /src/ws=. examples/dumps/illegal-address.nvcudmp
