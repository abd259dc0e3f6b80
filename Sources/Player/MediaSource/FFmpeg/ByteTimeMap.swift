/// An estimated mapping between bytes and positions in ticks, linear between known points.
struct ByteTimeMap {
    typealias Point = (offset: Double, time: Double)

    private var points: [Point]

    /// Creates a mapping through the points `given`. A point that does not increase in both coordinates is dropped.
    init(_ given: [Point]) {
        points = []
        for point in given where points.last.map({ $0.offset < point.offset && $0.time < point.time }) ?? true {
            points.append(point)
        }
    }

    /// Creates a mapping from `begin` to `endOffset` from the density (ticks per byte) sampled at some offsets.
    /// Each sample applies to the bytes nearest to it. Without samples, `density` applies to all bytes.
    init(from begin: FrameIndex.Entry, to endOffset: Int, density: Double, samples: [(offset: Int, density: Double)]) {
        var points = [(offset: Double(begin.offset), time: Double(begin.time))]
        func extend(to offset: Double, _ density: Double) {
            let last = points[points.count - 1]
            guard offset > last.offset else { return }
            points.append((offset, last.time + (offset - last.offset) * density))
        }
        let places = samples.filter { $0.offset > begin.offset }.sorted { $0.offset < $1.offset }
        for (index, place) in places.enumerated() {
            let border =
                index + 1 < places.count ? Double(place.offset + places[index + 1].offset) / 2 : Double(endOffset)
            extend(to: border, place.density)
        }
        if places.isEmpty { extend(to: Double(endOffset), density) }
        self.init(points)
    }

    var end: Point { points.last ?? (0, 0) }

    func offset(of time: Double) -> Double { Self.interpolate(time, points.map { ($0.time, $0.offset) }) }
    func time(at offset: Double) -> Double { Self.interpolate(offset, points.map { ($0.offset, $0.time) }) }

    private static func interpolate(_ place: Double, _ points: [(x: Double, y: Double)]) -> Double {
        guard let first = points.first, let last = points.last, place > first.x else { return points.first?.y ?? 0 }
        guard let after = points.firstIndex(where: { $0.x >= place }) else { return last.y }
        let (one, other) = (points[after - 1], points[after])
        return one.y + (other.y - one.y) * (place - one.x) / (other.x - one.x)
    }
}
