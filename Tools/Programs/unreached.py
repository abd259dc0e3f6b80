"""Checks that each public or package declaration of some modules is reached from a program, a tool or a product of the package.

usage: unreached.py INDEX [MODULE…]

INDEX is the index store of a build of all programs, such as .build-tests/release/index/store. Without MODULE the modules below are
checked. A declaration is reached if a program or another module's public interface refers to it, directly or through declarations
that are reached themselves. Prints each one that is not, and exits with 1. Only tests, for example, do not reach a declaration.
"""
import collections
import ctypes
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

MODULES = ["Call", "DNSSD", "Floor", "Lobby", "Pairing", "Transmissions"]
FOLDERS_OF_PROGRAMS = ("Sources/Command/tenfour/", "Tools/Programs/")

# Roles of an occurrence and of its relations, and kinds of a unit's dependencies: indexstore.h of LLVM.
DEFINITION, REFERENCE = 1 << 1, 1 << 2
CHILD_OF, OVERRIDE_OF, EXTENDED_BY, ACCESSOR_OF, CONTAINED_BY = 1 << 9, 1 << 11, 1 << 14, 1 << 15, 1 << 16
RECORD = 2
# Kinds of a symbol. A case that nothing makes may still be read from a message.
CASE, PARAMETER = 15, 25

ACCESS = re.compile(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+\s+)*?(public|package)\s+(?!import|extension)")


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.POINTER(ctypes.c_char)), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


APPLY_TEXT = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
APPLY = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)


class IndexStore:
    """An index store, read by the library of the Swift toolchain."""

    def __init__(self, path):
        target = json.loads(subprocess.run(["swiftc", "-print-target-info"], capture_output=True, check=True).stdout)
        library = pathlib.Path(target["paths"]["runtimeResourcePath"]).parent / "libIndexStore.so"
        if not library.exists():
            sys.exit(f"unreached: {library} is missing: install the whole Swift toolchain")
        self.library = ctypes.CDLL(str(library))
        self.store = self.call("store_create", ctypes.c_void_p, str(path).encode(), None) if path.is_dir() else None
        if not self.store:
            sys.exit(f"unreached: {path} is no index store: build with --enable-index-store")

    def call(self, name, result, *arguments):
        function = getattr(self.library, "indexstore_" + name)
        function.restype = result
        return function(*(ctypes.c_void_p(value) if isinstance(value, int) else value for value in arguments))

    def text(self, name, of):
        return str(self.call(name, Text, of))

    def each(self, name, of, use):
        """Calls `use` with each value, which lasts only as long as the call."""

        @APPLY
        def apply(_, value):
            use(value)
            return True

        self.call(name, ctypes.c_bool, of, None, apply)

    def units(self):
        """Yields the main file of each compiled file of ours, and the names of its records."""
        names = []

        @APPLY_TEXT
        def apply(_, name):
            names.append(str(name))
            return True

        self.call("store_units_apply_f", ctypes.c_bool, self.store, ctypes.c_uint(0), None, apply)
        for name in names:
            unit = self.call("unit_reader_create", ctypes.c_void_p, self.store, name.encode(), None)
            path = pathlib.Path(self.text("unit_reader_get_main_file", unit))
            records = []

            def use(dependency):
                if self.call("unit_dependency_get_kind", ctypes.c_int, dependency) == RECORD:
                    file = self.text("unit_dependency_get_filepath", dependency)
                    records.append((file, self.text("unit_dependency_get_name", dependency)))

            self.each("unit_reader_dependencies_apply_f", unit, use)
            self.call("unit_reader_dispose", None, unit)
            # A build leaves the units of files that have been removed since.
            if path.is_file() and path.resolve().is_relative_to(ROOT):
                yield path.resolve(), [record for file, record in records if file == str(path)]

    def occurrences(self, record):
        """Returns each occurrence of a record: the symbol's USR, name, kind, roles, line, and related symbols with their roles."""
        reader = self.call("record_reader_create", ctypes.c_void_p, self.store, record.encode(), None)
        found = []

        def use(occurrence):
            line, column = ctypes.c_uint(), ctypes.c_uint()
            self.call("occurrence_get_line_col", None, occurrence, ctypes.byref(line), ctypes.byref(column))
            related = []

            def use_relation(relation):
                symbol = self.call("symbol_relation_get_symbol", ctypes.c_void_p, relation)
                related.append((self.text("symbol_get_usr", symbol), self.call("symbol_relation_get_roles", ctypes.c_uint64, relation)))

            self.each("occurrence_relations_apply_f", occurrence, use_relation)
            symbol = self.call("occurrence_get_symbol", ctypes.c_void_p, occurrence)
            name, kind = self.text("symbol_get_name", symbol), self.call("symbol_get_kind", ctypes.c_int, symbol)
            roles = self.call("occurrence_get_roles", ctypes.c_uint64, occurrence)
            found.append((self.text("symbol_get_usr", symbol), name, kind, roles, line.value, related))

        self.each("record_reader_occurrences_apply_f", reader, use)
        self.call("record_reader_dispose", None, reader)
        return found


class Declarations:
    """The declarations of the package, and which refers to which. `products`: the folders whose public declarations are for others."""

    def __init__(self, store, products):
        # The file, line and name of each definition, by its USR.
        self.places = {}
        # By USR, those that a declaration refers to, and those that are reached wherever it is.
        self.references = collections.defaultdict(set)
        # Those that programs, users of products, and initial values of globals refer to.
        self.roots = set()
        self.parents = {}
        # Pairs of a declaration and the requirement of a protocol that it fulfils.
        self.requirements = []
        self.lines = {}
        self.products = products
        for path, records in store.units():
            name = str(path.relative_to(ROOT))
            if name.startswith(("Tests/", ".build")):
                continue
            self.lines[name] = path.read_text().split("\n")
            for record in records:
                for occurrence in store.occurrences(record):
                    self.add(name, *occurrence)
        for fulfilled_by, requirement in self.requirements:
            # A requirement of ours is called where it is reached, one of another library wherever the type is.
            caller = requirement if requirement in self.places else self.parents.get(fulfilled_by)
            self.references[caller].add(fulfilled_by)

    def add(self, file, usr, name, kind, roles, line, related):
        if roles & DEFINITION and kind != PARAMETER:
            is_checked = kind != CASE and not any(relation & ACCESSOR_OF for _, relation in related)
            self.places[usr] = (file, line, name if is_checked else "")
            if file.startswith(FOLDERS_OF_PROGRAMS) or file.startswith(self.products) and self.is_public(usr):
                self.roots.add(usr)
        if roles & REFERENCE and not any(relation & (CONTAINED_BY | EXTENDED_BY) for _, relation in related):
            self.roots.add(usr)
        for other, relation in related:
            if roles & REFERENCE and relation & (CONTAINED_BY | EXTENDED_BY):
                self.references[other].add(usr)
            if relation & EXTENDED_BY:
                self.references[usr].add(other)
            if relation & CHILD_OF and roles & DEFINITION:
                self.parents[usr] = other
                self.references[usr].add(other)
            if relation & ACCESSOR_OF:
                self.references[usr].add(other)
                self.references[other].add(usr)
            if relation & OVERRIDE_OF:
                self.requirements.append((usr, other))

    def access(self, usr):
        """Returns `public`, `package` or None."""
        file, line, _ = self.places[usr]
        found = ACCESS.match(self.lines[file][line - 1])
        return found and found[1]

    def is_public(self, usr):
        return self.access(usr) == "public"

    def unreached(self, folders):
        """Yields the file, line and name of each public or package declaration in these folders that is not reached."""
        reached, left = set(), list(self.roots)
        while left:
            usr = left.pop()
            if usr not in reached:
                reached.add(usr)
                left.extend(self.references[usr])
        for usr, (file, line, name) in sorted(self.places.items(), key=lambda item: item[1]):
            if name and usr not in reached and file.startswith(folders) and self.access(usr):
                yield file, line, name


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0].startswith("-"):
        print(__doc__)
        sys.exit(0 if arguments[:1] in (["-h"], ["--help"]) else 2)
    package = json.loads(subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True).stdout)
    names = {name for product in package["products"] if "library" in product["type"] for name in product["targets"]}
    products = tuple(target["path"] + "/" for target in package["targets"] if target["name"] in names)
    paths = {target["path"].rsplit("/", 1)[-1]: target["path"] + "/" for target in package["targets"] if target["type"] == "regular"}
    declarations = Declarations(IndexStore(ROOT / arguments[0]), products)
    for module in arguments[1:] or MODULES:
        if module not in paths:
            sys.exit(f"unreached: there is no module {module}: correct the list of modules")
        if not any(file.startswith(paths[module]) for file, _, _ in declarations.places.values()):
            sys.exit(f"unreached: the index knows nothing of {module}: build all programs and tests with --enable-index-store")
    count = 0
    for file, line, name in declarations.unreached(tuple(paths[module] for module in arguments[1:] or MODULES)):
        print(f"{file}:{line}: nothing that a person uses reaches {name}: delete it, or make it internal")
        count += 1
    sys.exit(1 if count else 0)


main()
