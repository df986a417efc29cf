import { Command } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import { completionCommands } from './completion.ts'

const ENVIRONMENT = `
Commands work on the local stack of this folder. For another project:
  --profile, TERRANE_PROFILE                an entry of ~/.config/terrane/profiles.json
  TERRANE_URL, TERRANE_SERVICE_ROLE_KEY     its address and key

Exit codes: 0 success, 1 refused or failed, 2 usage error.`

/** Commands by topic, in the order of the help. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Start and check:': ['start', 'doctor', 'login', 'whoami', 'env'],
  'Bring data:': ['import', 'osm', 'overture', 'files'],
  'Analyse and ask:': ['embed', 'regions', 'search', 'route', 'models'],
  'Publish and export:': ['tables', 'tiles', 'export', 'functions', 'hooks'],
  'Jobs:': ['jobs', 'schedules', 'webhooks'],
  'Administer an installation:': ['org', 'project', 'key', 'user', 'member', 'backup', 'restore', 'database'],
}
const OTHERS = 'More:'

/** Adds a command, or a group of them, to a program. */
export type AddCommands = (program: Command) => void

/** The command line with these commands. */
export function makeProgram(commands: readonly AddCommands[]): Command {
  const program = new Command('terrane')
    .description('Import data, run jobs, publish tables and functions, and check an installation.')
    .version(manifest.version, '-v, --version', 'print the version')
    .enablePositionalOptions()
    .showHelpAfterError('(see --help)')
    .exitOverride()
    .addHelpText('after', ENVIRONMENT)
  for (const add of commands) add(program)
  completionCommands(program)
  group(program)
  return program
}

function group(program: Command): void {
  const groupOf = new Map(Object.entries(GROUPS).flatMap(([title, names]) => names.map((name) => [name, title])))
  for (const command of program.commands) command.helpGroup(groupOf.get(command.name()) ?? OTHERS)
  const order = [...groupOf.keys()]
  // The help prints a title before the first command of its group, so the commands are sorted by group.
  ;(program.commands as Command[]).sort((a, b) => placeIn(order, a.name()) - placeIn(order, b.name()))
  program.helpCommand(true).commandsGroup(OTHERS)
}

function placeIn(order: readonly string[], name: string): number {
  const place = order.indexOf(name)
  return place < 0 ? order.length : place
}
