/// The elements that wait to be taken, in the order in which they were added.
struct FloorOutbox<Element: Sendable>: Sendable {
    private var elements: [Element] = []
    private var takenCount = 0

    var isEmpty: Bool { takenCount == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the next element, or nil after the last.
    mutating func take() -> Element? {
        guard takenCount < elements.count else {
            elements.removeAll(keepingCapacity: true)
            takenCount = 0
            return nil
        }
        takenCount += 1
        return elements[takenCount - 1]
    }
}
