import type { Command } from 'commander'
import { connect, localDatabase } from '../connection.ts'
import { print } from '../output.ts'
import { onProject } from '../run-task.ts'

/** `terrane env`: the address and the keys of a project, for a shell or a program. */
export function envCommand(program: Command): void {
  onProject(
    program
      .command('env')
      .description('Print the address, keys and local database of the project as lines for a shell.'),
  )
    .addHelpText('after', '\nExample:\n  $ eval "$(terrane env)"\n\nThe keys are secrets: keep them out of logs.')
    .action(env)
}

async function env({ profile, json }: { profile?: string; json?: boolean }): Promise<void> {
  const { url, key, anonKey, servicesKey, projectRef } = await connect(profile)
  const all = {
    TERRANE_URL: url,
    TERRANE_ANON_KEY: anonKey,
    TERRANE_SERVICE_ROLE_KEY: key,
    TERRANE_SERVICES_KEY: servicesKey,
    TERRANE_PROJECT_REF: projectRef,
    // Not DATABASE_URL, because the stack, the tests and other programs would use it as their own server.
    TERRANE_DATABASE_URL: await localDatabase(profile),
  }
  const known = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  if (json) return print(JSON.stringify(Object.fromEntries(known), null, 2))
  for (const [name, value] of known) print(`export ${name}=${quoted(value)}`)
}

/** A text in single quotes for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
