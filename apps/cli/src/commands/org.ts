import type { Command } from 'commander'
import type { Organization } from '@terrane/control'
import { withControlPlane } from '../control-plane.ts'
import { printList, printOne, withJson, type Shown } from '../output.ts'

/** `terrane org create|list`. */
export function orgCommands(program: Command): void {
  const org = program.command('org').description('Create and list organizations.')
  withJson(org.command('create <name>').description('Create an organization; prints its id.'))
    .addHelpText('after', '\nExample:\n  $ terrane org create "Harbour survey"')
    .action((name: string, { json }: { json?: boolean }) =>
      withControlPlane(async ({ organizations }) => {
        const made = await organizations.create(name)
        printOne(shown(made), made.id, json)
      }),
    )
  withJson(org.command('list').description('List organizations.')).action(({ json }: { json?: boolean }) =>
    withControlPlane(async ({ organizations }) => {
      printList((await organizations.list()).map(shown), ['id', 'name', 'created_at'], json)
    }),
  )
}

function shown({ id, name, createdAt }: Organization): Shown {
  return { id, name, created_at: createdAt.toISOString() }
}
