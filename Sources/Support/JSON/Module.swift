// Writes JSON (RFC 8259): names keep their order, and numbers are rounded to a given number of decimals. Foundation's
// JSONEncoder does neither, and nothing in Sources loads Foundation. Parses JSON with a bounded depth.
