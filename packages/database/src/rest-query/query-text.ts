/** A filter operator: `eq.`, `like(any).`, `fts(english).`; and its value. */
export interface WrittenOperator {
  readonly negated: boolean
  readonly name: string
  readonly argument: string | null
  readonly value: string
}

/** Reads `[not.]operator[(argument)].value` in one pass; null when the text does not begin so. */
export function readOperator(text: string): WrittenOperator | null {
  const negated = text.startsWith('not.')
  const start = negated ? 4 : 0
  let end = start
  while (isLowerCase(text.charCodeAt(end))) end++
  if (end === start) return null
  const name = text.slice(start, end)
  let argument: string | null = null
  if (text[end] === '(') {
    const close = text.indexOf(')', end)
    if (close < 0) return null
    argument = text.slice(end + 1, close)
    end = close + 1
  }
  return text[end] === '.' ? { negated, name, argument, value: text.slice(end + 1) } : null
}

/** Elements of `in.(…)`; quotes count only at the beginning of one. Null for an unclosed quote, empty for no text. */
export function listElements(text: string): string[] | null {
  if (text.trim() === '') return []
  const elements: string[] = []
  for (let start = 0; start <= text.length;) {
    const isQuoted = text[start] === '"'
    let end = start
    for (; end < text.length && text[end] !== ','; end++) {
      if (isQuoted && text[end] === '"') end = endOfQuoted(text, end)
      if (end < 0) return null
    }
    elements.push(unquote(text.slice(start, end)))
    start = end + 1
  }
  return elements
}

/**
 * Splits at a separator that is outside quotes, parentheses, braces and brackets. Null when one of these is not closed.
 * Parts are trimmed; an empty text has none.
 *
 * @param isLogic terms of a logic tree: quotes are special at the beginning of a name or value, braces at that of a
 * value, brackets never
 */
export function splitOutside(text: string, separator: string, isLogic = false): string[] | null {
  const parts: string[] = []
  let depth = 0
  let braces = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    const c = text[i]
    const isInBraces = !isLogic || braces > 0
    if (c === '"' && (isInBraces || i === 0 || ' .,(>'.includes(text[i - 1] as string))) {
      i = endOfQuoted(text, i)
      if (i < 0) return null
    } else if (c === '{' && (isInBraces || text[i - 1] === '.')) braces++
    else if (c === '}' && isInBraces) braces--
    else if (c === '(' || (c === '[' && !isLogic)) depth++
    else if (c === ')' || (c === ']' && !isLogic)) depth--
    else if (c === separator && depth + braces === 0) {
      parts.push(text.slice(start, i).trim())
      start = i + 1
    }
  }
  if (depth + braces !== 0) return null
  const last = text.slice(start).trim()
  return parts.length === 0 && last === '' ? [] : [...parts, last]
}

/** First index of a text outside quotes, from an index on; -1 when it is missing or a quote is not closed. */
export function indexOutsideQuotes(text: string, wanted: string, from = 0): number {
  for (let i = from; i < text.length; i++) {
    if (text[i] === '"') {
      i = endOfQuoted(text, i)
      if (i < 0) return -1
    } else if (text.startsWith(wanted, i)) return i
  }
  return -1
}

/** Text between an opening and a closing character that enclose it whole, or null. */
export function enclosed(text: string, open: string, close: string): string | null {
  return text.length >= 2 && text.startsWith(open) && text.endsWith(close) ? text.slice(1, -1) : null
}

/** The text without its quotes and escapes (`\x` and `""`), or unchanged when it is not quoted. */
export function unquote(text: string): string {
  const inner = enclosed(text, '"', '"')
  if (inner === null) return text
  let plain = ''
  for (let i = 0; i < inner.length; i++) {
    const c = inner[i] as string
    const isEscape = i + 1 < inner.length && (c === '\\' || (c === '"' && inner[i + 1] === '"'))
    plain += isEscape ? (inner[++i] as string) : c
  }
  return plain
}

/** Index of the closing quote of the quoted text that begins at `start`; -1 without one. */
function endOfQuoted(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '"') {
      if (text[i + 1] !== '"') return i
      i++
    }
  }
  return -1
}

function isLowerCase(code: number): boolean {
  return code >= 97 && code <= 122
}
