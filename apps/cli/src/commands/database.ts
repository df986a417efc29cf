import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { TerraneError } from '@terrane/core/errors'
import type { Command } from 'commander'
import { environment } from '../environment.ts'
import { note, printOne, withJson } from '../output.ts'

/** `terrane database move`. */
export function databaseCommands(program: Command): void {
  const database = program.command('database').description('Move the database of an installation.')
  withJson(database.command('move'))
    .description('Copy a snapshot of the database of DATABASE_URL into an empty one, and compare the two.')
    .option('--to <url>', 'target, without a password')
    .option('--to-file <file>', 'file with the target URL; - is standard input')
    .addHelpText(
      'after',
      `
The URL may stand in TERRANE_MOVE_TO as well. Let running jobs end first: changes after the start of the copy are not in it.
The source is not changed; clients of the embedded database wait during the copy. Then start the apps with DATABASE_URL set to the new one.

Example:
  $ createdb terrane && terrane database move --to postgres://postgres@127.0.0.1:5432/terrane`,
    )
    .action(async (options: { to?: string; toFile?: string; json?: boolean }) => {
      const { DATABASE_URL: from } = environment()
      if (!from)
        throw new TerraneError('DATABASE_URL_MISSING', 'invalid', 'DATABASE_URL, the database to copy, is not set')
      const { moveDatabase } = await import('@terrane/database/transfer')
      const { tables, rows, warnings } = await moveDatabase(from, await targetOf(options), (name, count) => {
        if (count > 0) note(`${name}: ${count} rows`)
      })
      for (const warning of warnings) note(`warning: ${warning}`)
      if (options.json) printOne({ tables, rows, warnings }, '', true)
      note(`Moved ${tables} tables with ${rows} rows; counts and catalogue are equal.`)
    })
}

async function targetOf({ to, toFile }: { to?: string; toFile?: string }): Promise<string> {
  const given =
    to ??
    (toFile === '-' ? await text(process.stdin) : toFile && (await readFile(toFile, 'utf8'))) ??
    environment()['TERRANE_MOVE_TO']
  const url = URL.parse((given ?? '').trim())
  if (!url || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new TerraneError('TARGET_INVALID', 'invalid', 'The target is not a postgres:// URL', {
      hint: 'Give it as --to, --to-file or TERRANE_MOVE_TO.',
    })
  }
  if (to !== undefined && url.password !== '') {
    throw new TerraneError(
      'SECRET_IN_ARGUMENT',
      'invalid',
      '--to has a password, which every process of this machine can read',
      {
        hint: 'Put the URL into a file (--to-file) or into TERRANE_MOVE_TO.',
      },
    )
  }
  return url.href
}
