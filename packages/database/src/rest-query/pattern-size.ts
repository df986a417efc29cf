/** `{m}`, `{m,}` and `{m,n}`; PostgreSQL takes numbers up to 255. */
const BOUND = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y

/** Constraints and back references, which may match the empty string. */
const EMPTY_ESCAPES = 'AmMyYZ123456789'

/** A group, or the whole expression. */
interface Part {
  size: number
  /** Whether the part of this branch before its last atom may be empty, and that atom itself. */
  before: boolean
  last: { size: number; isEmpty: boolean }
  /** True when a finished branch may be empty, or the group is only a lookaround. */
  isEmpty: boolean
}

/**
 * Number of single characters of a PostgreSQL regular expression after its bounds are written out, as the server
 * compiles it: `(x{1,200}){1,200}` has 40,000. An atom that may be empty counts by the square of its bound, because
 * each repetition may be skipped. Linear in the length of the text.
 */
export function expandedSize(pattern: string): number {
  const outer: Part[] = []
  let part = newPart(false)
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    BOUND.lastIndex = i
    const bound = c === '{' ? BOUND.exec(pattern) : null
    if (bound) {
      const [text, least, comma, most] = bound
      const times = Math.max(1, comma !== undefined && most === '' ? Number(least) + 1 : Number(most ?? least))
      const { last } = part
      const size = last.size * times * (last.isEmpty ? times : 1)
      part.size += size - last.size
      part.last = { size, isEmpty: last.isEmpty || Number(least) === 0 }
      i += text.length - 1
    } else if (c === '(') {
      outer.push(part)
      const looks = /^\?<?[=!]/.test(pattern.slice(i + 1, i + 4))
      part = newPart(looks)
      if (pattern[i + 1] === '?') i += 2
    } else if (c === ')') {
      part = closed(part, outer.pop() ?? newPart(false))
    } else if (c === '|') {
      part.isEmpty ||= part.before && part.last.isEmpty
      part.before = true
      part.last = { size: 0, isEmpty: true }
    } else if (c === '*' || c === '?') part.last.isEmpty = true
    else if (c !== '+') {
      const isEscape = c === '\\'
      if (isEscape) i++
      else if (c === '[') i = endOfBracket(pattern, i)
      const isEmpty = isEscape ? EMPTY_ESCAPES.includes(pattern[i] ?? '') : c === '^' || c === '$'
      add(part, { size: 1, isEmpty })
    }
  }
  while (outer.length > 0) part = closed(part, outer.pop() as Part)
  return part.size
}

function newPart(isEmpty: boolean): Part {
  return { size: 0, before: true, last: { size: 0, isEmpty: true }, isEmpty }
}

function add(part: Part, atom: Part['last']): void {
  part.before &&= part.last.isEmpty
  part.last = atom
  part.size += atom.size
}

/** The part around a group, with the group as its last atom. */
function closed(group: Part, around: Part): Part {
  add(around, { size: Math.max(1, group.size), isEmpty: group.isEmpty || (group.before && group.last.isEmpty) })
  return around
}

/** Index of the bracket that ends the expression which begins at `start`, or of the last character. */
function endOfBracket(pattern: string, start: number): number {
  let i = start + (pattern[start + 1] === '^' ? 2 : 1)
  // A bracket that comes first is a member.
  if (pattern[i] === ']') i++
  for (; i < pattern.length; i++) {
    const kind = pattern[i + 1]
    if (pattern[i] === ']') return i
    if (pattern[i] === '\\') i++
    else if (pattern[i] === '[' && (kind === ':' || kind === '.' || kind === '=')) {
      const end = pattern.indexOf(`${kind}]`, i + 2)
      if (end < 0) return pattern.length - 1
      i = end + 1
    }
  }
  return pattern.length - 1
}
