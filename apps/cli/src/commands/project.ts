import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Credentials, Project } from '@terrane/control'
import { TerraneError } from '@terrane/core/errors'
import type { Command } from 'commander'
import { withControlPlane, type ControlPlane } from '../control-plane.ts'
import { parseDuration } from '../durations.ts'
import { note, printList, printOne, withJson, type Shown } from '../output.ts'

const CREDENTIALS = `
Credentials are a JSON object from a file or from standard input (-), never an argument:
  databaseUrl      where jobs write                 originUrl        its rest, storage and functions
  storageUrl       its storage API                  apiUrl           the origin as functions reach it
  anonKey, serviceRoleKey    its own keys           servicesKey      what its functions send to shared services
  jwtSecret, jwksUrl         verify its tokens`

const EXAMPLES = `
Examples:
  $ terrane project create harbour --org "Harbour survey" --credentials harbour.json
  $ echo '{"databaseUrl": "postgres://…"}' | terrane project create harbour --org 0198… --credentials -`

interface Options {
  readonly org?: string
  readonly name?: string
  readonly credentials?: string
  readonly overlap: number
  readonly yes?: boolean
  readonly json?: boolean
}

/** `terrane project create|list|set|delete`. */
export function projectCommands(program: Command): void {
  const project = program.command('project').description('Create, list, change and delete projects.')
  withJson(project.command('create <ref>').description('Create a project; prints its id.'))
    .requiredOption('--org <organization>', 'id or name of its organization')
    .option('--name <name>', 'display name')
    .option('--credentials <file>', 'file with addresses and keys as JSON; - is standard input')
    .addHelpText('after', CREDENTIALS + EXAMPLES)
    .action(create)
  withJson(project.command('list').description('List projects.'))
    .option('--org <organization>', 'only this organization')
    .action(list)
  withJson(project.command('set <project>').description('Change the name or credentials of a project.'))
    .option('--org <organization>', 'organization, if several have a project with this reference')
    .option('--name <name>', 'display name')
    .option('--credentials <file>', 'file with all credentials as JSON; - is standard input')
    .option('--overlap <duration>', 'how long the old keys still work', parseDuration, parseDuration('1h'))
    .addHelpText('after', CREDENTIALS)
    .action(set)
  withJson(project.command('delete <project>'))
    .description(
      'Delete a project with its keys, functions, job records and table hooks. Objects in storage and tables stay.',
    )
    .option('--org <organization>', 'organization, if several have a project with this reference')
    .option('--yes', 'confirm the deletion')
    .action(remove)
}

async function create(ref: string, { org = '', name, credentials, json }: Options): Promise<void> {
  const given = credentials === undefined ? undefined : await credentialsFrom(credentials)
  await withControlPlane(async ({ organizations, projects }) => {
    const { id: organizationId } = await organizations.find(org)
    const made = await projects.create({
      organizationId,
      ref,
      ...(name !== undefined && { name }),
      ...(given && { credentials: given }),
    })
    printOne(shown(made), made.id, json)
    if (made.hostLabel !== made.ref) note(`A shared functions host answers for it at ${made.hostLabel}.{domain}.`)
  })
}

function list({ org, json }: Options): Promise<void> {
  return withControlPlane(async ({ organizations, projects }) => {
    const rows = await projects.list(org === undefined ? undefined : (await organizations.find(org)).id)
    printList(rows.map(shown), ['id', 'ref', 'organization', 'name', 'host_label'], json)
  })
}

async function set(project: string, { org, name, credentials, overlap, json }: Options): Promise<void> {
  const given = credentials === undefined ? undefined : await credentialsFrom(credentials)
  await withControlPlane(async (control) => {
    const { id } = await named(control, project, org)
    const change = { ...(name !== undefined && { name }), ...(given && { credentials: given }) }
    await control.projects.set(id, change, overlap)
    printOne(shown(await control.projects.get(id)), id, json)
  })
}

function remove(project: string, { org, yes, json }: Options): Promise<void> {
  return withControlPlane(async (control) => {
    const { id, ref, organizationName } = await named(control, project, org)
    if (!yes) {
      throw new TerraneError('NOT_CONFIRMED', 'invalid', `Project '${ref}' of ${organizationName} would be deleted`, {
        hint: 'Add --yes to do it; it cannot be undone.',
      })
    }
    const { hookTriggerName } = await import('@terrane/control/hooks')
    const left = await control.projects.delete(id)
    if (json) printOne({ id, ref, triggers_left: left?.ids.map(hookTriggerName) ?? [] }, id, true)
    if (!left) return
    note(`Triggers of ${left.ids.length} table hooks stay in the database of '${ref}': ${left.reason}.`)
    note(
      `They write events that are never delivered. Drop in that database: ${left.ids.map(hookTriggerName).join(', ')}.`,
    )
  })
}

async function named(control: ControlPlane, project: string, org: string | undefined): Promise<Project> {
  return control.projects.named(project, org === undefined ? undefined : (await control.organizations.find(org)).id)
}

async function credentialsFrom(file: string): Promise<Credentials> {
  const given = file === '-' ? await text(process.stdin) : await readFile(file, 'utf8')
  const { readCredentials } = await import('@terrane/control')
  try {
    return readCredentials(JSON.parse(given))
  } catch (cause) {
    if (cause instanceof TerraneError) throw cause
    // The parser's message would repeat the text, which contains secrets.
    throw new TerraneError('CREDENTIALS_INVALID', 'invalid', 'The credentials are not JSON')
  }
}

function shown(project: Project): Shown {
  const { id, ref, organizationId, organizationName, name, hostLabel, folder, createdAt } = project
  return {
    id,
    ref,
    organization: organizationName,
    organization_id: organizationId,
    name,
    host_label: hostLabel,
    folder,
    created_at: createdAt.toISOString(),
  }
}
