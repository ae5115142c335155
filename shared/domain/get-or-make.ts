/** What a map has for a key. If it has nothing yet, makes it and keeps it. */
export function getOrMake<Key, Value>(
    map: { get(key: Key): Value | undefined; set(key: Key, value: NoInfer<Value>): unknown },
    key: Key,
    make: () => Value,
): Value {
    const kept = map.get(key);
    if (kept !== undefined) return kept;
    const made = make();
    map.set(key, made);
    return made;
}
