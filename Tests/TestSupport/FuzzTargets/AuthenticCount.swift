private import Synchronization

private let count = Atomic<Int>(0)

/// The number of datagrams, messages and records that were accepted behind a valid key. It says whether a search reaches the
/// code there.
public var authenticCount: Int { count.load(ordering: .relaxed) }

func countAuthentic() { count.add(1, ordering: .relaxed) }
