/// A weak reference to the object that callbacks call, for callbacks that are created before the object. They capture
/// this holder, and `target` is set afterwards.
public final class CallbackTarget<Target: AnyObject> {
    public weak var target: Target?

    public init() {}
}
