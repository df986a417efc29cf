/**
 * The words of each statement of an SQL text, in lower case: names and keywords outside of strings, quoted names and
 * comments. In one pass, whatever the text.
 */
export function statementsOf(sql: string): string[][] {
  const statements: string[][] = []
  let words: string[] = []
  let at = 0
  while (at < sql.length) {
    const char = sql[at] as string
    if (char === "'") at = endOfQuoted(sql, at, "'", /[eE]/.test(sql[at - 1] ?? ''))
    else if (char === '"') at = endOfQuoted(sql, at, '"', false)
    else if (char === '-' && sql[at + 1] === '-') at = orEnd(sql, sql.indexOf('\n', at))
    else if (char === '/' && sql[at + 1] === '*') at = endOfComment(sql, at)
    else if (char === '$') at = endOfDollar(sql, at)
    else if (char === ';') {
      statements.push(words)
      words = []
      at++
    } else if (isWord(sql.charCodeAt(at))) {
      const start = at
      while (at < sql.length && (isWord(sql.charCodeAt(at)) || sql[at] === '$')) at++
      words.push(sql.slice(start, at).toLowerCase())
    } else at++
  }
  statements.push(words)
  return statements.filter((statement) => statement.length > 0)
}

function isWord(code: number): boolean {
  return (
    (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code > 127
  )
}

/** Just after the closing quote; a doubled quote stands for itself, and in an escape string a backslash hides the next. */
function endOfQuoted(sql: string, start: number, quote: string, escapes: boolean): number {
  for (let at = start + 1; at < sql.length; at++) {
    if (escapes && sql[at] === '\\') at++
    else if (sql[at] === quote) {
      if (sql[at + 1] !== quote) return at + 1
      at++
    }
  }
  return sql.length
}

/** Comments nest. */
function endOfComment(sql: string, start: number): number {
  let depth = 0
  for (let at = start; at < sql.length; at++) {
    if (sql[at] === '/' && sql[at + 1] === '*') {
      depth++
      at++
    } else if (sql[at] === '*' && sql[at + 1] === '/') {
      at++
      if (--depth === 0) return at + 1
    }
  }
  return sql.length
}

/** A string between `$tag$` and `$tag$`, or a parameter. */
function endOfDollar(sql: string, start: number): number {
  let at = start + 1
  while (at < sql.length && isWord(sql.charCodeAt(at))) at++
  if (sql[at] !== '$' || /[0-9]/.test(sql[start + 1] ?? '')) return at
  const tag = sql.slice(start, at + 1)
  const end = sql.indexOf(tag, at + 1)
  return end < 0 ? sql.length : end + tag.length
}

function orEnd(sql: string, at: number): number {
  return at < 0 ? sql.length : at
}
