extension QRSymbol {
    /// The code as an SVG picture of black modules on white, with its margin.
    public var svg: String {
        var path = ""
        for row in 0..<width {
            var column = 0
            while column < width {
                let start = column
                while isDark(row: row, column: column) { column += 1 }
                if column > start { path += "M\(start),\(row)h\(column - start)v1H\(start)z" }
                column += 1
            }
        }
        let side = width + 2 * Self.margin
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="\(-Self.margin) \(-Self.margin) \(side) \(side)" \
            shape-rendering="crispEdges"><path fill="#fff" d="M\(-Self.margin),\(-Self.margin)h\(side)v\(side)h-\(side)z"/>\
            <path d="\(path)"/></svg>

            """
    }
}
