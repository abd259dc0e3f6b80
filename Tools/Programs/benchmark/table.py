"""Rows of a table: the required value, the measured value, and whether the requirement is met."""

import json


class Row:
    """`met` is True, False, or None if nothing is required. `broken` is worse than not met: the result is wrong on any
    machine."""

    def __init__(self, name, ask, figure, met, *notes, broken=False, **values):
        self.name, self.ask, self.figure, self.met, self.broken, self.values = name, ask, figure, met, broken, values
        self.notes = list(notes)

    @property
    def verdict(self):
        return {True: "ok", False: "NOT MET", None: ""}[self.met]


class Table:
    """A table that is printed row by row as figures arrive, or as JSON at the end."""

    WIDTHS = (44, 12, 34)

    def __init__(self, title, as_json):
        self.title, self.as_json, self.rows, self.notes = title, as_json, [], []
        if not as_json:
            print(f"\n{title}\n")
            self.put("what", "ask", "figure", "")

    def add(self, row):
        self.rows.append(row)
        if not self.as_json:
            self.put(row.name, row.ask, row.figure, row.verdict)
            for note in row.notes:
                print(f"      {note}", flush=True)

    def note(self, text):
        """Adds a line below the rows."""
        self.notes.append(text)
        if not self.as_json:
            print(f"  {text}", flush=True)

    def put(self, *cells):
        print("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, (*self.WIDTHS, 0))).rstrip(), flush=True)

    @property
    def is_met(self):
        return all(row.met is not False for row in self.rows)


def print_json(tables):
    print(json.dumps([
        {"title": table.title, "notes": table.notes, "rows": [
            {"name": row.name, "ask": row.ask, "figure": row.figure, "met": row.met, "broken": row.broken, "notes": row.notes,
             **row.values}
            for row in table.rows]} for table in tables], indent=2))
