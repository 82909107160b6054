#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes code and pages out of the tables of the debugger API (src/cudbg/api/).

  apigen.py FOLDER header [--as-of 12.4] OUT   cudadebugger.h
  apigen.py FOLDER asserts OUT                 static assertions of sizes, offsets and slots
  apigen.py FOLDER functions OUT               prototypes of the functions written by hand
  apigen.py FOLDER entries OUT                 checks in front of them, and the tables
  apigen.py FOLDER passing OUT                 tables that hand each call on as data
  apigen.py FOLDER meta OUT                    the functions as data, and a call by slot
  apigen.py FOLDER coverage [--tests tests/api] OUT   docs/api-coverage.md, in the build folder
  apigen.py FOLDER check                       only reads the tables
"""

import argparse
import sys

import api_model
import api_code
import api_header
import api_pages

MAKERS = {
    "header": lambda api, args: api_header.Header(api, args.as_of).text(),
    "asserts": lambda api, args: api_code.asserts(api),
    "coverage": lambda api, args: api_pages.coverage(api, args.tests),
    "functions": lambda api, args: api_code.functions_header(api),
    "entries": lambda api, args: api_code.entries(api),
    "passing": lambda api, args: api_code.passing(api),
    "meta": lambda api, args: api_code.meta(api),
}


def main():
    parser = argparse.ArgumentParser(description="Makes code and pages out of the API tables.")
    parser.add_argument("folder")
    parser.add_argument("what", choices=sorted(MAKERS) + ["check"])
    parser.add_argument("out", nargs="?")
    parser.add_argument("--as-of", help="shape of an older version, such as 12.4")
    parser.add_argument("--tests", default="tests/api", help="folder of the conformance suite")
    args = parser.parse_intermixed_args()
    try:
        api = api_model.load(args.folder)
    except api_model.TableError as error:
        sys.exit("apigen.py: %s" % error)
    if args.what != "check":
        text = MAKERS[args.what](api, args)
        with open(args.out, "w", encoding="utf-8") as out:
            out.write(text)


if __name__ == "__main__":
    main()
