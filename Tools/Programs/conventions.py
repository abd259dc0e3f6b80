"""Checks the conventions of this repository that a compiler does not: names, words and sizes. Prints each violation and exits with 1.

usage: conventions.py [--count] [KIND…]

Without KIND all are checked: names, twice (types of the same name in two modules), words, files, functions, products, folders, layers
(modules that import others than Package.swift lists, or others below), map (types that Sources/README.md names but that are not
declared). --count prints the number of violations of each kind instead.
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Names of types and files that are not words of RTP, audio or networks. CONTRIBUTING.md says how a name is chosen.
RETIRED_NAMES = set(
    """
    Engine Station PlayoutLane Voice DecodedSound Listener TalkerTimeline Arriving Asking Defence Greeting Abilities Plausibility
    Membership Staying Admission Presence Doors Paths Gaps SaidRefusals SaidWelcome Spread Shard Parcel Errand Woken Handoff Daytime
    Downloading Parsing Reading Feed Director Deck Bell Treatment GainWish RingFiller Turn Wish Grant Metronome Watches Steering
    Transposer Conductor LinkWatch Spool Preallocated
    """.split()
)

# Words without an ordinary meaning in this field, in names and in prose: at most 40. Hyphens stand for spaces.
RETIRED_WORDS = [
    word.replace("-", " ")
    for word in """
    thrift bent bends bending hush hushed woken errand parcel spool politeness greeting plausibility mend mends mended mending bell deck
    conductor daytime metronome transposer handoff whoever of-late how-manieth unless-told so-much so-many dice untold brought-back
    toldTimes freshView steered
    """.split()
]
assert len(RETIRED_WORDS) <= 40

# Types of libraries that the map names.
FOREIGN_TYPES = {"Atomic", "Module"}

LONGEST_FILE = 400
LONGEST_FUNCTION = 60

IMPORT = re.compile(r"^ *(?:@\w+ )*(?:public |package |internal |private )?import (?:\w+ )?Tenfour(\w+)", re.M)
TEXT_FOLDERS = ["Sources", "Tests", "Tools", "Protocol", "README.md", "CONTRIBUTING.md", "SECURITY.md", "Package.swift"]
DECLARATION = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|private|fileprivate|final|indirect)\s+)*"
    r"(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)"
)
FUNCTION = re.compile(r"^(\s*)(?:[@\w()]+ )*(?:func|init|deinit|subscript)\b")

breaches = collections.defaultdict(list)


def files():
    """Returns every text file of the repository that people read, except this one and test data."""
    listed = subprocess.run(
        ["git", "ls-files", *TEXT_FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in filter(None, listed):
        path = ROOT / name
        if "Corpus/" in name or "vectors/" in name or name.endswith("SecretWords.swift") or path == pathlib.Path(__file__).resolve() or not path.is_file():
            continue
        try:
            yield name, path.read_text().split("\n")
        except UnicodeDecodeError:
            continue


def module(name):
    """Returns the folder of the target that contains a file: within it, a top-level type must be the only one of its name."""
    parts = name.split("/")
    if parts[0] == "Sources" and len(parts) > 3:
        return "/".join(parts[:3])
    if parts[:2] == ["Tools", "Programs"] and len(parts) > 3:
        return "/".join(parts[:3])
    return None


def words_of(line):
    """Splits the names in a line into words: `handoffCount` contains the word handoff."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", line).lower()


def check_words(name, lines, patterns):
    for number, line in enumerate(lines, 1):
        if "words-are-data" in line:
            return
        text = words_of(line)
        for word, pattern in patterns:
            if pattern.search(text):
                breaches["words"].append(f"{name}:{number}: “{word}”")


def check_functions(name, lines):
    """Checks the number of lines from a function's head to its closing brace, which swift format indents like the head."""
    index = 0
    while index < len(lines):
        match = FUNCTION.match(lines[index])
        if match:
            end = index
            closing = match.group(1) + "}"
            while end + 1 < len(lines) and lines[end].rstrip() != closing and end - index < 400:
                if end == index and lines[end].rstrip().endswith("}"):
                    break
                end += 1
            if lines[end].rstrip() == closing and end - index + 1 > LONGEST_FUNCTION:
                breaches["functions"].append(f"{name}:{index + 1}: {end - index + 1} lines in one function")
        index += 1


def check_map(declared_names):
    """Checks that the types which the map names in `code` exist; the first part of `Type.function` is the type."""
    for number, line in enumerate((ROOT / "Sources" / "README.md").read_text().split("\n"), 1):
        for name in re.findall(r"`([A-Z]\w+)(?:\.[a-z]\w*)?`", line):
            if name not in declared_names and not name.startswith("Tenfour") and name not in FOREIGN_TYPES:
                breaches["map"].append(f"Sources/README.md:{number}: no type is called {name}")


def check_layers():
    """Checks that each module imports what Package.swift lists for it, and lists only modules above itself."""
    above = set()
    package = (ROOT / "Package.swift").read_text()
    for entry in re.finditer(r'\bModule\(\s*"([\w/]+)"(.*?)\),?\n(?=\s*(?:Module\(|\]|$))', package, re.S | re.M):
        folder, rest = entry.groups()
        listed = re.search(r'uses:\s*"+([^"]*)"', rest)
        listed = set(listed.group(1).split()) if listed else set()
        imported = set()
        for path in (ROOT / "Sources" / folder).rglob("*.swift"):
            imported.update(IMPORT.findall(path.read_text()))
        for name in sorted(listed - above):
            breaches["layers"].append(f"Package.swift: {folder} uses {name}, which is not above it")
        for name in sorted(imported - listed):
            breaches["layers"].append(f"Package.swift: {folder} imports {name}, which is not in its list")
        for name in sorted(listed - imported):
            breaches["layers"].append(f"Package.swift: {folder} lists {name}, which it does not import")
        above.add(folder.split("/")[-1])
    if not above:
        breaches["layers"].append("Package.swift: the table of modules is not found")


def check():
    places = collections.defaultdict(set)
    declared_names = set()
    patterns = [
        (word, re.compile(r"\b" + re.escape(words_of(word)) + r"\b")) for word in RETIRED_WORDS
    ]
    for name, lines in files():
        check_words(name, lines, patterns)
        if not name.endswith(".swift"):
            continue
        if pathlib.Path(name).stem in RETIRED_NAMES:
            breaches["names"].append(f"{name}: a retired name of a file")
        if name.startswith(("Sources/", "Tests/")) and len(lines) - 1 > LONGEST_FILE:
            breaches["files"].append(f"{name}: {len(lines) - 1} lines")
        if name.startswith(("Sources/", "Tests/")):
            check_functions(name, lines)
        for number, line in enumerate(lines, 1):
            declared = DECLARATION.match(line)
            if not declared:
                continue
            declared_names.add(declared.group(1))
            if declared.group(1) in RETIRED_NAMES:
                breaches["names"].append(f"{name}:{number}: {declared.group(1)} is a retired name of a type")
            if module(name):
                places[declared.group(1)].add(module(name))
    check_map(declared_names)
    for type_name, modules in sorted(places.items()):
        if len(modules) > 1:
            breaches["twice"].append(f"{type_name} is a type of {', '.join(sorted(modules))}")
    check_layers()
    for product in re.findall(r"\.library\(name: \"(\w+)\"", (ROOT / "Package.swift").read_text()):
        if not product.startswith("Tenfour"):
            breaches["products"].append(f"Package.swift: the library {product} does not begin with Tenfour")
    folders = [path for path in (ROOT / "Sources").iterdir() if path.is_dir()]
    if len(folders) > 11:
        breaches["folders"].append(f"Sources has {len(folders)} folders, more than eleven")


check()
kinds = [argument for argument in sys.argv[1:] if argument != "--count"]
breaches = {kind: found for kind, found in breaches.items() if not kinds or kind in kinds}
for kind, found in breaches.items():
    if "--count" in sys.argv:
        print(f"{kind}: {len(found)}")
    else:
        print("\n".join(found))
sys.exit(1 if breaches else 0)
