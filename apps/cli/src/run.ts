import { CommanderError } from 'commander'
import { TerraneError } from '@terrane/core'
import { makeProgram, type AddCommands } from './program.ts'

/** Runs one of the commands. Returns the exit code: 2 for a wrong call, 1 for everything that was refused or failed. */
export async function run(args: readonly string[], commands: readonly AddCommands[]): Promise<number> {
  try {
    await makeProgram(commands).parseAsync([...args], { from: 'user' })
    return Number(process.exitCode ?? 0)
  } catch (error) {
    // Help and usage were printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    process.stderr.write(`terrane: ${error instanceof Error ? error.message : String(error)}\n`)
    if (error instanceof TerraneError && error.details !== null) process.stderr.write(`${error.details}\n`)
    if (error instanceof TerraneError && error.hint !== null) process.stderr.write(`${error.hint}\n`)
    const { hint } = error as { hint?: unknown }
    if (!(error instanceof TerraneError) && typeof hint === 'string') process.stderr.write(`${hint}\n`)
    return 1
  }
}
