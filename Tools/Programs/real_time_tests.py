"""Prints the names of the tests that have the trait inRealTime or inRealTimeOnACard, as a regular expression for `swift test --filter`.

usage: real_time_tests.py ROOT SCRATCH        SCRATCH is the folder of builds that SwiftPM may use
"""

import json
import os
import re
import subprocess
import sys

# The rest of a declaration after its macro, which may have other attributes and stand on the next line.
suite = re.compile(r"@Suite\(([^\n]*)\)\s+(?:\w+\s+)*?(?:struct|enum|class|actor)\s+(\w+)")
test = re.compile(r"@Test\(([^{]*?)\)\s+(?:\w+\s+)*?func\s+(\w+)")


def names(text):
    for pattern, end in (suite, "/"), (test, r"\("):
        for traits, name in pattern.findall(text):
            if ".inRealTime" in traits:
                yield name + end


def main(root, scratch):
    package = json.loads(subprocess.run(["swift", "package", "--package-path", root, "--scratch-path", scratch, "describe", "--type", "json"],
                                        check=True, stdout=subprocess.PIPE).stdout)
    found = []
    for target in package["targets"]:
        if target["type"] != "test":
            continue
        of_target = set()
        for source in target["sources"]:
            with open(os.path.join(root, target["path"], source)) as file:
                of_target |= set(names(file.read()))
        if of_target:
            found.append(f"{target['name']}[.](.*/)?({'|'.join(sorted(of_target))})")
    if not found:
        sys.exit("no test has the trait inRealTime: real_time_tests.py does not find it any more")
    print(f"^({'|'.join(sorted(found))})")


if __name__ == "__main__":
    main(*sys.argv[1:])
