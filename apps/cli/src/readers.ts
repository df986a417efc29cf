import type { Command } from 'commander'
import { onTask } from './run-task.ts'

/** Readers of a new table of embeddings. */
export interface ReadersOptions {
  readonly owner?: string
  readonly private?: boolean
}

/** A command that makes an embedding table, which everybody with the anon key reads unless an option says otherwise. */
export function withReaders(command: Command, on: (command: Command) => Command = onTask): Command {
  return on(command)
    .option(
      '--private',
      'readable by the service role only, or with --owner by that user (default: also by the anon key)',
    )
    .option('--owner <uuid>', 'user who owns the table; only they and the service role read it')
}

/** The fields of a request that the options stand for. */
export function readersOf({ owner, private: isPrivate }: ReadersOptions) {
  return { ...(owner !== undefined && { ownerUuid: owner }), ...(isPrivate && { isPublic: false }) }
}
