import { CommanderError } from 'commander'
import { TerraneError } from '@terrane/core/errors'
import { makeProgram, type AddCommands } from './program.ts'

/** Runs one of the commands. Returns the exit code: 2 for a usage error, 1 for other errors. */
export async function run(args: readonly string[], commands: readonly AddCommands[]): Promise<number> {
  try {
    await makeProgram(commands).parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // Help and usage were printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`terrane: ${messageOf(error)}\n`)
    if (error instanceof TerraneError && error.details !== null) process.stderr.write(`${error.details}\n`)
    if (error instanceof TerraneError && error.hint !== null) process.stderr.write(`${error.hint}\n`)
    const { hint } = error as { hint?: unknown }
    if (!(error instanceof TerraneError) && typeof hint === 'string') process.stderr.write(`${hint}\n`)
    return 1
  }
}

/** Node's message is only `fetch failed` when no server answers; the cause names the address. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (!(error instanceof TypeError) || error.message !== 'fetch failed') return error.message
  const reason = (error.cause as Error | undefined)?.message
  return `The project does not answer${reason ? ` (${reason})` : ''}. Is it running? \`terrane doctor\` checks.`
}
