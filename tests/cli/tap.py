"""TAP of cases that are (name, whether it is good, what to show of it otherwise)."""


def tell(found):
    """Prints the cases. An exit status."""
    found = list(found)
    print(f'1..{len(found)}')
    for number, (name, good, text) in enumerate(found, 1):
        print(f'{"ok" if good else "not ok"} {number} - {name}')
        for line in [] if good else text.splitlines():
            print(f'# {line}')
    return 0 if all(good for _, good, _ in found) else 1
