import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { complete, type CommandWords } from './completion.ts'

const SOURCES = import.meta.dirname
const KEPT = join(SOURCES, '../node_modules/.cache/completions.json')

/**
 * Prints completions for `typed`. A shell runs it at every Tab, and loading all commands takes longer than a person waits
 * for, so their words are kept until a source of the command line changes.
 */
export async function completeFromSources(typed: readonly string[]): Promise<void> {
  complete(kept() ?? (await readWords()), typed)
}

/** The latest change of the sources, and their number. */
function stamp(): string {
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(SOURCES, name)))
  return `${files.length} ${Math.max(...files.map(({ mtimeMs }) => mtimeMs))}`
}

function kept(): CommandWords[] | null {
  try {
    const { stamp: of, words } = JSON.parse(readFileSync(KEPT, 'utf8')) as { stamp: string; words: CommandWords[] }
    return of === stamp() ? words : null
  } catch {
    return null
  }
}

async function readWords(): Promise<CommandWords[]> {
  const [{ COMMANDS }, { makeProgram }, { commandWords }] = await Promise.all([
    import('./commands/all.ts'),
    import('./program.ts'),
    import('./completion.ts'),
  ])
  const words = commandWords(makeProgram(COMMANDS))
  try {
    mkdirSync(dirname(KEPT), { recursive: true })
    writeFileSync(KEPT, JSON.stringify({ stamp: stamp(), words }))
  } catch {
    // A folder that cannot be written only makes the next Tab slower.
  }
  return words
}
