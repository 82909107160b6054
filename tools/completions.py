#!/usr/bin/env python3
"""Writes what bash, zsh and fish complete after `warpscope`, from the table of verbs (cli/cli.h) and their help (cli/help/VERB.txt).

usage: completions.py SOURCE_ROOT BASH ZSH FISH        (three files to write)

Names of files are offered where a file goes, by what the help calls it (FILE, DUMP, FOLDER ...), and nowhere else. No file is
opened and no program is started. tests/cli/test_completions.py holds the names to the options that the program takes.
"""
import os
import re
import sys

FILES = {'FILE', 'DUMP', 'IMAGE', 'PATH', 'LOG', 'TRACE', 'SOURCE', 'LIB'}
FOLDERS = {'DIR', 'FOLDER'}


class Option:
    """names: '--output', '-o'. value: None: it has none; 'file', 'folder', 'other', or a list of words."""

    def __init__(self, names, value, about):
        self.names, self.value, self.about = names, value, about


def kind_of(word):
    names = set(re.sub(r'[\[\].]', '', word).split('|'))
    if names & FILES:
        return 'file'
    if names & FOLDERS:
        return 'folder'
    if names == {'PROGRAM'}:
        return 'program'
    return sorted(names) if len(names) > 1 and all(re.fullmatch('[a-z]+', name) for name in names) else 'other'


def options_in(text):
    """Those that a help text explains: a line that begins with two spaces and a dash has one or several, then what they do, here or below."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        rest, names, value = line[2:], [], None
        if not line.startswith('  -'):
            continue
        found = []
        while word := re.match(r'(--?[A-Za-z][a-z-]*)(?:\[=\w+\]|[ =]([^-\s]*[A-Z|][^\s]*?))?(?:, (?=-)|(?= |$))', rest):
            if names and names[-1].startswith('--'):  # another one that shares the line
                found.append((names, value))
                names = []
            names.append(word[1])
            optional = word[2] is None or word[2].startswith('[')
            value = None if optional else kind_of(word[2])
            rest = rest[word.end():]
        about = rest.strip() or lines[number + 1].strip()
        for names, value in found + [(names, value)]:
            yield Option(names, value, about.split(';')[0].rstrip(' ,:.'))


def literal_text(source, name):
    """A string of C that is written in several pieces."""
    pieces = re.search(name + r'\[\] =\n(.*?);\n', source, re.DOTALL)[1]
    return ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', pieces)).replace('\\n', '\n').replace('\\"', '"')


def operands_of(synopsis):
    """What goes at each place; the last counts for all that follow when the boolean says so."""
    places, repeats = [], False
    synopsis = re.sub(r'\[OPTION\.\.\.\]|\[--\]|(?<= )-o FILE| --kernel NAME', '', synopsis)
    for form in synopsis.split(' | '):
        for place, word in enumerate(form.split()):
            kind = kind_of(word) if re.search('[A-Z|]', word) else [word]
            if place == len(places):
                places.append(kind)
            elif isinstance(kind, list) and isinstance(places[place], list):
                places[place] = places[place] + kind
            repeats = word.rstrip(']').endswith('...')
    return places, repeats


class Verb:
    def __init__(self, name, synopsis, about, options):
        self.name, self.about, self.options = name, about, options
        self.places, self.repeats = operands_of(synopsis)

    def place(self, number):
        if number < len(self.places):
            return self.places[number]
        return self.places[-1] if self.repeats and self.places else 'other'


def read(*path):
    with open(os.path.join(*path), encoding='ascii') as file:
        return file.read()


def verbs_of(root):
    table = re.search(r'#define CLI_VERB_LIST\(X\)(.*?)\n\n', read(root, 'cli/cli.h'), re.DOTALL)[1].replace('\\\n', ' ')
    common = list(options_in(literal_text(read(root, 'cli/main.c'), 'common_help')))
    common.append(Option(['--api-lib'], 'file', 'a provider of the debugger API'))
    texts = {name: read(root, 'cli/help', name + '.txt') for name in re.findall(r'X\((\w+),', table)}
    for name, synopsis, about in re.findall(r'X\((\w+), "([^"]*)", \w+,\s+"([^"]*)"\)', table):
        own = list(options_in(texts[name]))
        also = re.search(r'those of warpscope (\w+): (.*?)\.\n', texts[name], re.DOTALL)
        if also:
            wanted = re.findall(r'--[a-z-]+', also[2])
            own += [option for option in options_in(texts[also[1]]) if option.names[-1] in wanted]
        known = {}
        for option in own + common:
            known.setdefault(option.names[-1], option)
        yield Verb(name, synopsis, about, list(known.values()))


# ---- bash ----

def words_of(kind):
    return ' '.join(kind) if isinstance(kind, list) else {'file': '@file', 'folder': '@folder', 'program': '@program'}.get(kind, '@none')


BASH = r'''# Made by tools/completions.py: what bash completes after warpscope.
# Prints what the option $2 of the verb $1 takes: @file, @folder, @none, or words; nothing when it takes no value.
_warpscope_value()
{
	case "$1 $2" in
%(values)s
	esac
}

# Prints what goes at place $2 of the verb $1, from 0.
_warpscope_place()
{
	case "$1 $2" in
%(places)s
	*) echo @none ;;
	esac
}

_warpscope_options()
{
	case $1 in
%(options)s
	esac
}

_warpscope()
{
	local cur=${COMP_WORDS[COMP_CWORD]} verb= wanted= place=0 i word kind
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [ -n "$wanted" ]; then
			wanted=
		elif [[ $word == -?* ]]; then
			wanted=$(_warpscope_value "${verb:-report}" "$word")
		elif [ -z "$verb" ]; then
			verb=$word
		else
			[ "$(_warpscope_place "$verb" "$place")" != @program ] || break
			place=$((place + 1))
		fi
	done
	if ((i < COMP_CWORD)); then
		kind=@file # of a program's own arguments nothing is known
	elif [ -n "$wanted" ]; then
		kind=$wanted
	elif [[ $cur == -* ]]; then
		kind=$(_warpscope_options "${verb:-report}")
	elif [ -z "$verb" ]; then
		mapfile -t COMPREPLY < <(compgen -W '%(verbs)s help' -- "$cur")
		kind=@file # warpscope DUMP
	elif [ "$verb" = help ]; then
		kind='%(verbs)s options'
	else
		kind=$(_warpscope_place "$verb" "$place")
	fi
	case $kind in
	@none) ;;
	@file) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur") ;;
	@folder) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	@program) mapfile -t COMPREPLY < <(compgen -c -- "$cur") ;;
	*) mapfile -t COMPREPLY < <(compgen -W "$kind" -- "$cur") ;;
	esac
}
complete -F _warpscope warpscope
'''


def bash(verbs):
    values, places, options = [], [], []
    for verb in verbs:
        for option in verb.options:
            if option.value:
                names = ' | '.join(f"'{verb.name} {name}'" for name in option.names)
                values.append(f"\t{names}) echo '{words_of(option.value)}' ;;")
        for number, kind in enumerate(verb.places):
            last = '*' if verb.repeats and number == len(verb.places) - 1 else number
            places.append(f"\t'{verb.name} '{last}) echo '{words_of(kind)}' ;;")
        names = ' '.join(name for option in verb.options for name in option.names if name.startswith('--'))
        options.append(f"\t{verb.name}) echo '{names}' ;;")
    return BASH % {'values': '\n'.join(values), 'places': '\n'.join(places), 'options': '\n'.join(options),
                   'verbs': ' '.join(verb.name for verb in verbs)}


# ---- zsh ----

def zsh_text(text):
    return re.sub(r"([\[\]:\\])", r'\\\1', text).replace("'", "'\\''")


def zsh_action(kind):
    if isinstance(kind, list):
        return f":word:({' '.join(kind)})"
    return {'file': ':file:_files', 'folder': ':folder:_files -/', 'program': ':program:_command_names -e', 'other': ':value: '}[kind]


def zsh(verbs):
    lines = ['#compdef warpscope', '# Made by tools/completions.py: what zsh completes after warpscope.',
             'local curcontext=$curcontext state line ret=1', 'typeset -A opt_args', 'local -a verbs', 'verbs=(']
    lines += [f"\t'{verb.name}:{zsh_text(verb.about)}'" for verb in verbs] + ["\t'help:how a verb is used'", ')']
    lines += ["_arguments -C '1: :->verb' '*:: :->rest' && ret=0", 'case $state in', 'verb)',
              "\t_alternative 'verbs:verb:{_describe verb verbs}' 'files:dump:_files' && ret=0 ;;", 'rest)', '\tcase $words[1] in']
    for verb in verbs:
        lines.append(f'\t{verb.name})\n\t\t_arguments -S \\')
        for option in verb.options:
            for name in option.names:
                value = zsh_action(option.value) if option.value else ''
                # `-` behind the name: the value follows as a word, or behind a =
                joined = ('=' if name.startswith('--') else '+') if option.value else ''
                lines.append(f"\t\t\t'*{name}{joined}[{zsh_text(option.about)}]{value}' \\")
        for number, kind in enumerate(verb.places):
            rest = verb.repeats and number == len(verb.places) - 1
            if kind == 'program':
                lines += [f"\t\t\t'{number + 1}{zsh_action(kind)}' '*::argument:_normal' \\"]
                break
            lines.append(f"\t\t\t'{'*' if rest else number + 1}{zsh_action(kind)}' \\")
        lines.append('\t\t\t&& ret=0 ;;')
    lines += ["\thelp) _describe verb verbs && ret=0 ;;", '\tesac ;;', 'esac', 'return ret']
    return '\n'.join(lines) + '\n'


# ---- fish ----

def fish_text(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def fish_value(kind):
    if isinstance(kind, list):
        return f" -x -a '{' '.join(kind)}'"
    return {None: '', 'file': ' -r -F', 'folder': " -x -a '(__fish_complete_directories)'"}.get(kind, ' -x')


FISH = r'''# Made by tools/completions.py: what fish completes after warpscope.
# Whether the verb is one of $argv[2..] and what is typed goes at its place $argv[1], or behind it ("1+").
function __warpscope_place
	set -l words (commandline -poc)
	set -e words[1]
	set -l place -1
	set -l verb
	for word in $words
		if string match -q -- '-*' $word
			continue
		end
		set -q verb[1]; or set verb $word
		set place (math $place + 1)
	end
	contains -- "$verb" $argv[2..]; or return 1
	switch $argv[1]
		case '*+'
			test $place -ge (string replace + '' $argv[1])
		case '*'
			test $place -eq $argv[1]
	end
end
complete -c warpscope -f
complete -c warpscope -n __fish_use_subcommand -F
'''


def fish(verbs):
    lines = [FISH.rstrip()]
    for verb in verbs:
        lines.append(f"complete -c warpscope -n __fish_use_subcommand -a {verb.name} -d {fish_text(verb.about)}")
    lines.append("complete -c warpscope -n __fish_use_subcommand -a help -d 'how a verb is used'")
    for verb in verbs:
        seen = f"-n '__fish_seen_subcommand_from {verb.name}'"
        for option in verb.options:
            names = ''.join(f' -l {name[2:]}' if name.startswith('--') else f' -s {name[1:]}' for name in option.names)
            lines.append(f'complete -c warpscope {seen}{names}{fish_value(option.value)} -d {fish_text(option.about)}')
        for number, kind in enumerate(verb.places):
            repeats = '+' if kind == 'program' or (verb.repeats and number == len(verb.places) - 1) else ''
            at = f"-n '__warpscope_place {number}{repeats} {verb.name}'"
            if isinstance(kind, list):
                lines.append(f"complete -c warpscope {at} -a '{' '.join(kind)}'")
            elif kind == 'program':
                lines.append(f"complete -c warpscope {at} -F -a '(__fish_complete_subcommand)'")
            elif kind != 'other':
                lines.append(f'complete -c warpscope {at} -F')
    return '\n'.join(lines) + '\n'


SHELLS = {'share/bash-completion/completions/warpscope': bash, 'share/zsh/site-functions/_warpscope': zsh,
          'share/fish/vendor_completions.d/warpscope.fish': fish}


def completions(root):
    """Path below a prefix -> text."""
    verbs = list(verbs_of(root))
    return {path: write(verbs) for path, write in SHELLS.items()}


def main():
    root, *files = sys.argv[1:]
    for file, text in zip(files, completions(root).values()):
        with open(file, 'w', encoding='ascii') as out:
            out.write(text)


if __name__ == '__main__':
    main()
