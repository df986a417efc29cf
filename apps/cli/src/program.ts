import tab from '@bomb.sh/tab/commander'
import { Command } from 'commander'

const ENVIRONMENT = `
Commands work on the local stack of this folder. For another project:
  --profile, TERRANE_PROFILE                an entry of ~/.config/terrane/profiles.json
  TERRANE_URL, TERRANE_SERVICE_ROLE_KEY     its address and key

Exit codes: 0 done, 1 refused or failed, 2 wrong call.`

/** Adds a command, or a group of them, to a program. */
export type AddCommands = (program: Command) => void

/** The command line with these commands. */
export function makeProgram(commands: readonly AddCommands[]): Command {
  const program = new Command('terrane')
    .description('Terrane on the command line: bring data, run jobs, ask for routes, and find out what is wrong.')
    .enablePositionalOptions()
    .showHelpAfterError('(--help says more)')
    .exitOverride()
    .addHelpText('after', ENVIRONMENT)
  for (const add of commands) add(program)
  tab(program, { completionCommandName: 'completion' })
  return program
}
