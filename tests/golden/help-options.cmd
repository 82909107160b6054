# Options and exit statuses of all verbs.
warpscope help options
