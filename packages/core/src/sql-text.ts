/** Quotes an identifier for SQL text. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text for SQL. */
export function quoteLiteral(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted
}

/** `"schema"."name"` for SQL text. */
export function qualified(schema: string, name: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}`
}

const NAME = /:([a-z_]\w*)/y
const WORD = /[\w\u0080-\uffff][\w\u0080-\uffff$]*/y
const TAG = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y
const COMMENT_MARK = /\/\*|\*\//g

/**
 * The statement with each `:name` replaced by the result of `write`; null keeps it. Texts, quoted names, comments,
 * casts and subscripts are unchanged, and an unclosed one extends to the end. Parentheses within a subscript may hold
 * names. Linear in the length.
 */
export function replaceNames(sql: string, write: (name: string) => string | null): string {
  let written = ''
  let at = 0
  let before = ''
  const brackets: string[] = []
  while (at < sql.length) {
    const isSubscript = brackets.at(-1) === 'subscript'
    const name = isSubscript ? null : match(NAME, sql, at)
    const end = name === null ? endOfToken(sql, at) : at + name.length
    const token = sql.slice(at, end)
    if (token === '(') brackets.push('(')
    else if (token === '[') brackets.push(isList(before, brackets.at(-1)) ? 'list' : 'subscript')
    else if (token === ')' || token === ']') brackets.pop()
    if (!/^(?:\s|--|\/\*)/.test(token)) before = token
    written += (name === null ? null : write(token.slice(1))) ?? token
    at = end
  }
  return written
}

/** Whether a bracket begins a list, as in `array[1, 2]` and its inner lists. */
function isList(before: string, outer: string | undefined): boolean {
  return /^array$/i.test(before) || (outer === 'list' && (before === '[' || before === ','))
}

function endOfToken(sql: string, at: number): number {
  if (sql.startsWith('::', at)) return at + 2
  const word = match(WORD, sql, at)
  if (word !== null && !(/^e$/i.test(word) && sql[at + 1] === "'")) return at + word.length
  return endOfHidden(sql, word === null ? at : at + 1) ?? at + 1
}

/** End of a text, quoted name or comment that begins here, or null; an unclosed one extends to the end. */
export function endOfHidden(sql: string, at: number): number | null {
  const after = (close: string, from: number) => {
    const found = sql.indexOf(close, from)
    return found < 0 ? sql.length : found + close.length
  }
  const first = sql[at]
  if (first === '"') return after(first, at + 1)
  // The letter E of an escape string is a separate word.
  if (first === "'")
    return /(?:^|[^\w\u0080-\uffff$])[eE]$/.test(sql.slice(Math.max(0, at - 2), at))
      ? endOfEscaped(sql, at + 1)
      : after(first, at + 1)
  if (sql.startsWith('--', at)) return after('\n', at)
  if (sql.startsWith('/*', at)) return endOfComment(sql, at)
  const tag = first === '$' ? match(TAG, sql, at) : null
  return tag === null ? null : after(tag, at + tag.length)
}

/** Comments nest. */
function endOfComment(sql: string, from: number): number {
  let depth = 0
  COMMENT_MARK.lastIndex = from
  for (let mark = COMMENT_MARK.exec(sql); mark; mark = COMMENT_MARK.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return COMMENT_MARK.lastIndex
  }
  return sql.length
}

function endOfEscaped(sql: string, from: number): number {
  for (let at = from; at < sql.length; at++) {
    if (sql[at] === '\\' || sql.startsWith("''", at)) at++
    else if (sql[at] === "'") return at + 1
  }
  return sql.length
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
