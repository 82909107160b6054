"""Do answers fit docs/schema? For the tests of every folder.

Beside what the schemas say to any validator, this checks what they say in words (`row` in their definitions): a value
that is null has a KEY_why beside it that says why, unless its type is called NAME_or_none, and no other value has one.
"""
import functools
import json
import os

try:
    import jsonschema
except ImportError:
    jsonschema = None

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../docs/schema')
INSTALLED = jsonschema is not None
SKIPPED = 'python3-jsonschema is not installed'


@functools.cache
def load(name):
    """The schema of warpscope-NAME-1."""
    with open(os.path.join(FOLDER, f'warpscope-{name}-1.json'), encoding='utf-8') as text:
        return json.load(text)


def properties(validator, rules, instance, schema):
    yield from jsonschema.Draft202012Validator.VALIDATORS['properties'](validator, rules, instance, schema)
    for key, rule in rules.items() if isinstance(instance, dict) else ():
        value, why = instance.get(key, ''), instance.get(key + '_why')
        if value is None and why is None and not rule.get('$ref', '').endswith('_or_none'):
            yield jsonschema.ValidationError(f'{key} is null, and no {key}_why says why')
        if why is not None and value is not None and value != []:
            yield jsonschema.ValidationError(f'{key}_why says why {key} is missing, but it is not null')


@functools.cache
def validator(name, part=None):
    kind = jsonschema.validators.extend(jsonschema.Draft202012Validator, {'properties': properties})
    return kind({'$ref': f'#/$defs/{part}', '$defs': load(name)['$defs']} if part else load(name))


def misfit(answer, name=None, part=None):
    """What is wrong with an answer, or a part of one by its name in $defs; None: nothing, or nobody can tell."""
    name = name or answer.get('schema', '').removeprefix('warpscope-').removesuffix('-1')
    error = next(validator(name, part).iter_errors(answer), None) if jsonschema else None
    return error and f'{name}: {error.json_path}: {error.message[:300]}'
