"""Rows that are measured again if they are not met. Noise of the machine makes a figure worse and never better, so the best of three
attempts counts."""

ATTEMPTS = 3


def best(measure, cases, table):
    """Calls `measure` with the cases, then with those that have rows that are not met, at most three times in all. `measure` returns
    the rows of each case by its name. Prints the attempts that are made again, and adds each row at its best."""
    rows, left = {}, cases
    for attempt in range(1, ATTEMPTS + 1):
        measured = measure(left)
        for case in left:
            for row in measured[case]:
                row.attempt = attempt
                previous = rows.setdefault(case, {}).get(row.name)
                if previous is None or rank(row) <= rank(previous):
                    rows[case][row.name] = row
        left = [case for case in left if not all(is_settled(row) for row in rows[case].values())]
        if attempt == ATTEMPTS or not left:
            break
        for case in left:
            for row in measured[case]:
                if not is_settled(row):
                    table.repeat(row, attempt, ATTEMPTS)
    for case in cases:
        for row in rows[case].values():
            table.add(row)


def is_settled(row):
    return row.met is True or row.met is None and not row.void


def rank(row):
    """A row that is met is better than one that is not, and that is better than one that was not judged: it is a warning only where
    the machine stalled in all attempts."""
    return 0 if is_settled(row) else 1 if row.met is False else 2
