"""Rows of a table: the required value, the measured value, and whether the requirement is met."""

import json


class Row:
    """`met` is True, False, or None if nothing is required, or the row is `void`: the machine stalled. `broken` is worse than not met:
    the result is wrong on any machine. `attempt` is the number of the attempt, from 1, that gave the figure."""

    def __init__(self, name, ask, figure, met, *notes, broken=False, void=False, **values):
        self.name, self.ask, self.figure, self.met, self.broken, self.values = name, ask, figure, met, broken, values
        self.notes, self.void, self.attempt = list(notes), void, 1

    @property
    def verdict(self):
        return {True: "ok", False: "NOT MET", None: "WARNING" if self.void else ""}[self.met]


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

    def repeat(self, row, attempt, attempts):
        """Prints a row that is measured again."""
        if not self.as_json:
            self.put(row.name, row.ask, row.figure, f"attempt {attempt} of {attempts}; again")
            for note in row.notes:
                print(f"      {note}", flush=True)

    def put(self, *cells):
        print("  " + "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, (*self.WIDTHS, 0))).rstrip(), flush=True)

    def summarize(self):
        """Prints how many rows were met, and how many of them at a later attempt."""
        count = {met: sum(row.met is met and (met is not None or row.void) for row in self.rows) for met in (True, False, None)}
        again = sum(row.attempt > 1 for row in self.rows)
        self.note(f"{count[True]} rows met, {count[False]} not met, {count[None]} warnings; {again} needed more than one attempt")

    @property
    def is_met(self):
        return all(row.met is not False for row in self.rows)


def print_json(tables):
    print(json.dumps([
        {"title": table.title, "notes": table.notes, "rows": [
            {"name": row.name, "ask": row.ask, "figure": row.figure, "met": row.met, "broken": row.broken, "notes": row.notes,
             **row.values}
            for row in table.rows]} for table in tables], indent=2))
