import type { Command } from 'commander'
import { onTask } from './run-task.ts'

/** Readers of a new table of embeddings. */
export interface ReadersOptions {
  readonly owner?: string
  readonly private?: boolean
}

/** Adds the options for readers of an embedding table. By default everyone with the anon key may read it. */
export function withReaders(command: Command, on: (command: Command) => Command = onTask): Command {
  return on(command)
    .option(
      '--private',
      'readable by the service role only, or with --owner by that user (default: also by the anon key)',
    )
    .option('--owner <uuid>', 'user who owns the table; only they and the service role read it')
}

/** The fields of a request for the options. */
export function readersOf({ owner, private: isPrivate }: ReadersOptions) {
  return { ...(owner !== undefined && { ownerUuid: owner }), ...(isPrivate && { isPublic: false }) }
}
