/** `{m}`, `{m,}` and `{m,n}`; PostgreSQL takes numbers up to 255. */
const BOUND = /\{(\d{1,9})(?:(,)(\d{0,9}))?\}/y

/**
 * How many single characters a regular expression of PostgreSQL has once its bounds are written out, which is how the server
 * compiles it: `(x{1,200}){1,200}` has 40,000. Linear in the length of the text.
 */
export function expandedSize(pattern: string): number {
  const outer: number[] = []
  let sum = 0
  let last = 0
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]
    BOUND.lastIndex = i
    const bound = c === '{' ? BOUND.exec(pattern) : null
    if (bound) {
      const [text, least, comma, most] = bound
      const times = comma !== undefined && most === '' ? Number(least) + 1 : Number(most ?? least)
      sum += last * (Math.max(1, times) - 1)
      last *= Math.max(1, times)
      i += text.length - 1
    } else if (c === '(') {
      outer.push(sum)
      sum = 0
      last = 0
      if (pattern[i + 1] === '?') i += 2
    } else if (c === ')') {
      last = Math.max(1, sum)
      sum = (outer.pop() ?? 0) + last
    } else if (c !== '*' && c !== '+' && c !== '?' && c !== '|') {
      if (c === '\\') i++
      else if (c === '[') i = endOfBracket(pattern, i)
      last = 1
      sum += 1
    }
  }
  return outer.reduce((size, part) => size + part, sum)
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
