import { isDeepStrictEqual } from 'node:util'
import { parse } from 'smol-toml'

type Table = Record<string, unknown>

/** Maximum pieces in which a file is searched for repeated tables. */
const MOST_PIECES = 1000

/** The tables of a `config.toml`, also where a function's is repeated with the same values. @throws TomlError */
export function readConfigTables(text: string): Table {
  try {
    return parse(text)
  } catch (error) {
    const tables = parsed(withoutRepeats(text))
    if (tables) return tables
    throw error
  }
}

function withoutRepeats(text: string): string {
  const pieces = text.split(/^(?=[ \t]*\[)/m)
  if (pieces.length > MOST_PIECES) return text
  const seen: Table[] = []
  let kept = ''
  let part = ''
  for (const piece of pieces) {
    part += piece
    const table = parsed(part)
    // A line that begins with a bracket within a text or a list does not begin a table.
    if (!table) continue
    const isFunction = Object.keys(table).join() === 'functions' && !part.trimStart().startsWith('[[')
    if (!isFunction || !seen.some((other) => isDeepStrictEqual(other, table))) kept += part
    if (isFunction) seen.push(table)
    part = ''
  }
  return kept + part
}

/** Null where the text is not TOML. */
function parsed(text: string): Table | null {
  try {
    return parse(text)
  } catch {
    return null
  }
}
