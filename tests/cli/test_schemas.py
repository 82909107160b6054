#!/usr/bin/env python3
"""docs/schema by itself, and the golden pages that are JSON against it. Prints TAP.

usage: test_schemas.py SOURCE_ROOT
"""
import json
import os
import sys

import schemas

ROOT = sys.argv[1]
GOLDEN = os.path.join(ROOT, 'tests/golden')


def parts(value):
    yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(part)


def answers():
    """(name of the page, answer): also several of a page, and behind text."""
    for name in sorted(os.listdir(GOLDEN)):
        with open(os.path.join(GOLDEN, name), encoding='utf-8') as page:
            text = page.read() if name.endswith('.out') else ''
        at = 0
        while (at := text.find('{', at)) >= 0:
            try:
                answer, at = json.JSONDecoder().raw_decode(text, at)
            except ValueError:
                at += 1
                continue
            if answer.get('schema', '').startswith('warpscope-'):
                yield name, answer | ({'key': '0' * 32, 'written': 0} if name == 'triage-jsonl.out' else {})  # its command cuts them out


def each_is_a_schema(files):
    for name, schema in files.items():
        if schemas.INSTALLED:
            schemas.jsonschema.Draft202012Validator.check_schema(schema)
        same = {f'warpscope-{name}-1', schema['$id'], schema['properties']['schema']['const']}
        if len(same) != 1:
            return f'{name}: {same}'
    return None


def each_name_means_one_thing(files):
    meant = {}
    for name, schema in files.items():
        used = {part['$ref'].removeprefix('#/$defs/') for part in parts(schema) if isinstance(part, dict) and isinstance(part.get('$ref'), str)}
        if used != set(schema.get('$defs', ())):
            return f'{name}: {used ^ set(schema.get("$defs", ()))}'
        for key, rule in schema.get('$defs', {}).items():
            if meant.setdefault(key, rule) != rule:
                return f'{name}: another {key}'
    return None


def golden_answers_fit(_files):
    return next((f'{page}: {why}' for page, answer in answers() if (why := schemas.misfit(answer))), None)


def a_null_needs_its_reason(_files):
    """Of the golden answers, every fourth KEY_why is taken away, and every fourth null with one becomes a value."""
    known = 0
    for page, answer in answers():
        for part in (part for part in parts(answer) if isinstance(part, dict)):
            for why in [key for key in part if key.endswith('_why') and part.get(key[:-4], '') is None]:
                known += 1
                changed = {2: why, 0: why[:-4]}.get(known % 4)
                if changed is None:
                    continue
                before = part.pop(changed)
                if changed != why:
                    part[changed] = 7
                if not schemas.misfit(answer):
                    return f'{page}: {changed} was {before}'
                part[changed] = before
    return None if known > 300 else f'only {known} reasons'


def main():
    files = {name[10:-7]: schemas.load(name[10:-7]) for name in sorted(os.listdir(schemas.FOLDER)) if name.endswith('.json')}
    cases = (each_is_a_schema, each_name_means_one_thing, golden_answers_fit, a_null_needs_its_reason)
    print(f'1..{len(cases)}')
    failed = 0
    for number, case in enumerate(cases, 1):
        name = case.__name__.replace('_', ' ')
        if case in cases[2:] and not schemas.INSTALLED:
            print(f'ok {number} - {name} # SKIP {schemas.SKIPPED}')
            continue
        why = case(files)
        failed += why is not None
        print(f'{"ok" if why is None else "not ok"} {number} - {name}' + (f'\n# {why}' if why else ''))
    return failed > 0


if __name__ == '__main__':
    sys.exit(main())
