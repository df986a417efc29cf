import { Command } from 'commander'
import { backupCommands } from './commands/backup.ts'
import { databaseCommands } from './commands/database.ts'
import { delegatedCommands } from './commands/delegated.ts'
import { keyCommands } from './commands/key.ts'
import { orgCommands } from './commands/org.ts'
import { projectCommands } from './commands/project.ts'

const ENVIRONMENT = `
org, project and key work on the control plane:
  DATABASE_URL          its PostgreSQL; the local stack prints the one of its embedded database
  TERRANE_SECRETS_KEY   seals credentials: 32 bytes as hex or base64, the same for all apps

Exit codes: 0 done, 1 refused or failed, 2 wrong call.`

/** The whole command line; a group of commands is a file of its own. */
export function makeProgram(): Command {
  const program = new Command('terrane')
    .description('Organizations, projects and keys of Terrane, and the commands of its apps.')
    .enablePositionalOptions()
    .showHelpAfterError('(--help says more)')
    .exitOverride()
    .addHelpText('after', ENVIRONMENT)
  for (const add of [orgCommands, projectCommands, keyCommands, backupCommands, databaseCommands, delegatedCommands])
    add(program)
  return program
}
