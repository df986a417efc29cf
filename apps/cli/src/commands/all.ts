import type { AddCommands } from '../program.ts'
import { backupCommands } from './backup.ts'
import { databaseCommands } from './database.ts'
import { delegatedCommands } from './delegated.ts'
import { doctorCommand } from './doctor.ts'
import { keyCommands } from './key.ts'
import { ON_A_PROJECT } from './on-a-project.ts'
import { orgCommands } from './org.ts'
import { projectCommands } from './project.ts'
import { startCommand } from './start.ts'

const CONTROL_PLANE = `
org, project and key work on the control plane:
  DATABASE_URL          its PostgreSQL; the local stack prints the one of its embedded database
  TERRANE_SECRETS_KEY   encrypts credentials: 32 bytes as hex or base64, the same for all apps`

/** All commands; each group is in a file of its own. */
export const COMMANDS: readonly AddCommands[] = [
  startCommand,
  ...ON_A_PROJECT,
  doctorCommand(async () => (await import('../doctor/checks.ts')).CHECKS),
  orgCommands,
  projectCommands,
  keyCommands,
  backupCommands,
  databaseCommands,
  delegatedCommands,
  (program) => void program.addHelpText('after', CONTROL_PLANE),
]
