import { readFileSync } from 'node:fs'

/** A number of a source file that is replaced by another. */
export interface Mutation {
  readonly file: string
  /** Where the number stands, in characters. */
  readonly at: number
  readonly before: string
  readonly after: string
}

/** Numbers outside comments, texts and type names. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<![\w$.])\d[\d_]*(?:\.\d+)?(?![\w.])/g

/** All mutations of the numbers of files: each is made half as large again, small whole ones go up by one. */
export function mutationsOf(files: readonly string[]): Mutation[] {
  return files.flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    return [...source.matchAll(TOKENS)].flatMap((match): Mutation[] => {
      const [before] = match
      if (!/^\d/.test(before)) return []
      const value = Number(before.replaceAll('_', ''))
      const after =
        Number.isInteger(value) && value < 4
          ? value + 1
          : Number.isInteger(value)
            ? Math.ceil(value * 1.5)
            : value * 1.5
      return [{ file, at: match.index, before, after: String(after) }]
    })
  })
}
