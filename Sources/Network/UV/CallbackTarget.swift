/// Holds the object that callbacks call, for callbacks that are made before the object: they capture the holder, and the
/// object is set last. It is not retained.
public final class CallbackTarget<Target: AnyObject> {
    public weak var target: Target?

    public init() {}
}
