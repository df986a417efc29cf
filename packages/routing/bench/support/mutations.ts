import { readFileSync } from 'node:fs'

/** A number of a source file that is replaced by another. */
export interface Mutation {
  readonly file: string
  /** Position of the number, in characters. */
  readonly at: number
  /** Line number, and text of the line. */
  readonly line: number
  readonly text: string
  readonly before: string
  readonly after: string
}

/** Numbers outside comments, texts and type names. */
const TOKENS =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|(?<![\w$.])\d[\d_]*(?:\.\d+)?(?![\w.])/g

/** All mutations of the numbers of files: each is multiplied by 1.5; integers below 4 are increased by one. */
export function mutationsOf(files: readonly string[]): Mutation[] {
  return files.flatMap((file) => {
    const source = readFileSync(file, 'utf8')
    const lines = source.split('\n')
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
      const line = source.slice(0, match.index).split('\n').length
      return [{ file, at: match.index, line, text: lines[line - 1]!.trim(), before, after: String(after) }]
    })
  })
}

/** Mutations without an effect, with the reason: file, and a text in the line. */
export const EQUIVALENT: readonly {
  readonly in: string
  readonly what: string
  /** The number, when only one of the line is meant. */
  readonly number?: string
  readonly because: string
}[] = [
  { in: 'cost/edge-view.ts', what: '#', number: '0', because: 'fields that are set before they are read' },
  { in: 'cost/turn-view.ts', what: ' = 0', number: '0', because: 'fields that are set before they are read' },
  { in: 'cost/preferences.ts', what: 'length: 64', because: 'room for more uses than there are' },
  { in: 'cost/options.ts', what: "typeof rule[0] === 'string'", because: 'all choices of an option are texts' },
  {
    in: 'cost/option-table.ts',
    what: 'fixed_speed: [0, 0, 252]',
    number: '0',
    because: 'what is out of bounds is zero too',
  },
  {
    in: 'build/turns.ts',
    what: 'let info = put(0, TurnField.turn',
    number: '0',
    because: 'the bit belongs to what is put last',
  },
  {
    in: 'profiles/bicycle.ts',
    what: 'surfaceSpeed: [',
    number: '0',
    because: 'bicycles have no access where a way is impassable, the last of the surfaces',
  },
]
