import { Command } from 'commander'
import { askCommands } from './commands/ask.ts'
import { backupCommands } from './commands/backup.ts'
import { databaseCommands } from './commands/database.ts'
import { delegatedCommands } from './commands/delegated.ts'
import { doctorCommand } from './commands/doctor.ts'
import { envCommand } from './commands/env.ts'
import { jobCommands } from './commands/jobs.ts'
import { keyCommands } from './commands/key.ts'
import { orgCommands } from './commands/org.ts'
import { projectCommands } from './commands/project.ts'
import { startCommand } from './commands/start.ts'
import { tableCommands } from './commands/tables.ts'
import { taskCommands } from './commands/tasks.ts'

const ENVIRONMENT = `
Commands work on the local stack of this folder. For another project:
  --profile, TERRANE_PROFILE                an entry of ~/.config/terrane/profiles.json
  TERRANE_URL, TERRANE_SERVICE_ROLE_KEY     its address and key

org, project and key work on the control plane:
  DATABASE_URL          its PostgreSQL; the local stack prints the one of its embedded database
  TERRANE_SECRETS_KEY   seals credentials: 32 bytes as hex or base64, the same for all apps

Exit codes: 0 done, 1 refused or failed, 2 wrong call.`

const COMMANDS = [
  startCommand,
  taskCommands,
  askCommands,
  jobCommands,
  tableCommands,
  envCommand,
  doctorCommand,
  orgCommands,
  projectCommands,
  keyCommands,
  backupCommands,
  databaseCommands,
  delegatedCommands,
]

/** The whole command line; a group of commands is a file of its own. */
export function makeProgram(): Command {
  const program = new Command('terrane')
    .description(
      'Terrane on the command line: start it, bring data, run jobs, ask for routes, and find out what is wrong.',
    )
    .enablePositionalOptions()
    .showHelpAfterError('(--help says more)')
    .exitOverride()
    .addHelpText('after', ENVIRONMENT)
  for (const add of COMMANDS) add(program)
  return program
}
