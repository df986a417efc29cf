import { endOfHidden } from '@terrane/core/sql-text'

/** The words of each statement in lower case, outside of strings, quoted names and comments. One pass. */
export function statementsOf(sql: string): string[][] {
  const statements: string[][] = []
  let words: string[] = []
  let at = 0
  while (at < sql.length) {
    const char = sql[at] as string
    const hidden = endOfHidden(sql, at)
    if (hidden !== null) at = hidden
    else if (char === '$') {
      do at++
      while (isWord(sql.charCodeAt(at)))
    } else if (char === ';') {
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
