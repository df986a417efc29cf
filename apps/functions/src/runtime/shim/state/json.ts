/**
 * The value of a message, which is kept as JSON.
 *
 * @param converts true: objects with `toJSON` are stored in that form, as in queues of Workers
 * @throws TypeError for values that JSON cannot hold: Map, Set, bytes, RegExp, bigint, NaN, and undefined outside of
 * objects
 */
export function jsonOf(value: unknown, converts = false): unknown {
  // `JSON.stringify` also refuses circular values.
  const text = JSON.stringify(value) as string | undefined
  assertKept(value, converts)
  return JSON.parse(text!) as unknown
}

function assertKept(value: unknown, converts: boolean): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return
  if (Array.isArray(value)) {
    for (const each of value as readonly unknown[]) assertKept(each, converts)
    return
  }
  if (typeof value === 'object') {
    if (converts && typeof (value as { toJSON?: unknown }).toJSON === 'function') return
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === null || Object.getPrototypeOf(prototype) === null) {
      for (const each of Object.values(value)) if (each !== undefined) assertKept(each, converts)
      return
    }
  }
  const kind = typeof value === 'object' ? value.constructor.name : Number.isNaN(value) ? 'NaN' : typeof value
  throw new TypeError(
    `a message is kept as JSON, which has no ${kind.slice(0, 50)}: send text, numbers, lists and plain objects`,
  )
}
