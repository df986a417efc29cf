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
const TAG = /\$(?:[A-Za-z_]\w*)?\$/y

/**
 * The statement with each `:name` replaced by what `write` gives; null leaves it. Text, quoted names, comments, casts and subscripts
 * stay as they are, and so does all that follows one without an end. Linear in the length.
 */
export function replaceNames(sql: string, write: (name: string) => string | null): string {
  let written = ''
  let at = 0
  while (at < sql.length) {
    const name = match(NAME, sql, at)
    const end = name === null ? endOf(sql, at) : at + name.length
    const token = sql.slice(at, end)
    written += (name === null ? null : write(token.slice(1))) ?? token
    at = end
  }
  return written
}

/** Where what begins at a place ends. */
function endOf(sql: string, at: number): number {
  const after = (close: string, from: number) => {
    const found = sql.indexOf(close, from)
    return found < 0 ? sql.length : found + close.length
  }
  const two = sql.slice(at, at + 2)
  if (two === '::') return at + 2
  if (two === '--') return after('\n', at)
  if (two === '/*') return after('*/', at + 2)
  if (/^e'/i.test(two)) return endOfEscaped(sql, at + 2)
  const tag = match(TAG, sql, at)
  if (tag !== null) return after(tag, at + tag.length)
  const [first] = two
  if (first === "'" || first === '"') return after(first, at + 1)
  return first === '[' ? after(']', at + 1) : at + 1
}

function endOfEscaped(sql: string, from: number): number {
  for (let at = from; at < sql.length; at++) {
    if (sql[at] === '\\') at++
    else if (sql[at] === "'") return at + 1
  }
  return sql.length
}

function match(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? null
}
