import type { Command } from 'commander'
import { environment } from '../environment.ts'
import { databaseOf, findStack } from '../local-stack.ts'
import { note, printOne, withJson } from '../output.ts'

const PLACES = `
The variables of the apps locate an installation: DATABASE_URL, TERRANE_STORAGE, TERRANE_FUNCTIONS_STORAGE and TERRANE_HOME.
Without them it is the local stack in .terrane.`

/** `terrane backup`, `terrane restore`. */
export function backupCommands(program: Command): void {
  withJson(program.command('backup'))
    .description('Save database, objects, deployed functions and keys while the apps run.')
    .requiredOption('--to <place>', 'an empty folder, or s3://{bucket}/{prefix}')
    .addHelpText('after', `${PLACES}\n\nA backup holds secrets: keep it as you keep keys.`)
    .action(async ({ to, json }: { to: string; json?: boolean }) => {
      const env = environment()
      const [{ backUp, recordBackup }, { placeOf, placesOf }] = await Promise.all([
        import('../backup/backup.ts'),
        import('../backup/places.ts'),
      ])
      const places = placesOf(env)
      const databaseUrl = places.databaseUrl ?? databaseOf(await findStack(env))
      const { tables, objects, bytes, warnings } = await backUp({ ...places, databaseUrl }, placeOf(to, env))
      for (const warning of warnings) note(`warning: ${warning}`)
      await recordBackup(databaseUrl, to.startsWith('s3:') ? 's3' : 'file', bytes).catch((error: unknown) =>
        note(`warning: the backup was not recorded in the database: ${String(error)}`),
      )
      if (json) printOne({ tables, objects, bytes, warnings }, '', true)
      note(`Saved ${tables} tables and ${objects} objects, ${(bytes / 1e6).toFixed(1)} MB.`)
    })
  withJson(program.command('restore'))
    .description('Restore a backup into an empty installation; checks the backup first.')
    .requiredOption('--from <place>', 'where the backup is: a folder, or s3://{bucket}/{prefix}')
    .addHelpText('after', `${PLACES}\nWithout DATABASE_URL an embedded database is made in TERRANE_HOME.`)
    .action(async ({ from, json }: { from: string; json?: boolean }) => {
      const env = environment()
      const [{ restore }, { placeOf, placesOf }] = await Promise.all([
        import('../backup/restore.ts'),
        import('../backup/places.ts'),
      ])
      const { tables, rows, objects } = await restore(placeOf(from, env), placesOf(env))
      if (json) printOne({ tables, rows, objects }, '', true)
      note(`Restored ${tables} tables with ${rows} rows, and ${objects} objects.`)
    })
}
