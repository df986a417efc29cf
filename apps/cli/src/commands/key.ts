import type { IssuedKey, KeyRecord, KeyRole, Keys } from '@terrane/control'
import { TerraneError } from '@terrane/core/errors'
import { Option, type Command } from 'commander'
import { withControlPlane } from '../control-plane.ts'
import { parseDuration } from '../durations.ts'
import { note, printList, printOne, withJson, type Shown } from '../output.ts'

const SCOPES = ['jobs', 'routes'] as const

interface Options {
  readonly org?: string
  readonly project?: string
  readonly role?: KeyRole
  readonly scope?: (typeof SCOPES)[number][]
  readonly table?: string[]
  readonly origin?: string[]
  readonly label?: string
  readonly expiresIn?: number
  readonly overlap: number
  readonly all?: boolean
  readonly json?: boolean
  readonly tokenId?: string
  readonly signingKey?: string
}

const EXAMPLES = `
Examples:
  $ terrane key create --org "Harbour survey" --label ci
  $ terrane key create --org "Harbour survey" --scope routes --label "web map"
  $ terrane key create --project harbour --role service_role --expires-in 30d
  $ terrane key create --project harbour --role anon --table public.piers --origin https://maps.example.org`

/** `terrane key create|list|rotate|revoke`. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('Create, list, rotate and revoke keys.')
  withJson(key.command('create').description('Create a key and print it; it is not shown again.'))
    .option('--org <organization>', 'organization of the key, by id or name')
    .option('--project <project>', 'project of the key, by id or reference')
    .addOption(
      new Option('--role <role>', 'services and operator are of an organization, the others of a project').choices([
        'services',
        'operator',
        'anon',
        'service_role',
      ]),
    )
    .addOption(
      new Option('--scope <scope...>', 'what a services key gives access to (default: everything)').choices(SCOPES),
    )
    .option('--table <table...>', 'tables, and archives as bucket/key, that an anon key in URLs shows')
    .option('--origin <origin...>', 'origins of pages that may use such a key; * for any')
    .option('--label <text>', 'label for people')
    .option('--expires-in <duration>', 'lifetime, e.g. 90d (default: unlimited)', parseDuration)
    .addHelpText('after', EXAMPLES)
    .action(create)
  withJson(key.command('list').description('List active keys.'))
    .option('--org <organization>', 'of this organization')
    .option('--project <project>', 'of this project')
    .option('--all', 'include expired and revoked keys')
    .action(list)
  withJson(
    key.command('rotate <key>').description('Create a successor and print it; the old key expires after an overlap.'),
  )
    .option('--overlap <duration>', 'how long both keys work', parseDuration, parseDuration('1h'))
    .addHelpText(
      'after',
      '\nA key is named by its id, or by a unique prefix of the key.\n\nExample:\n  $ terrane key rotate 0198… --overlap 7d',
    )
    .action(rotate)
  withJson(
    key.command('revoke [key]').description('Revoke a key or signed tokens; every app refuses them within a minute.'),
  )
    .option('--token-id <jti>', 'revoke tokens with this id instead of a key; needs --project')
    .option('--signing-key <kid>', 'revoke all tokens signed by the key with this id; needs --project')
    .option('--project <project>', 'project of the tokens')
    .option('--org <organization>', 'the organization of the project')
    .addHelpText(
      'after',
      `
A key is named by its id, or by a unique prefix of the key; a token (of a user, of a signed URL) by its whole text.

Examples:
  $ terrane key revoke 0198…
  $ terrane key revoke "$TOKEN_OF_A_SIGNED_URL"
  $ terrane key revoke --token-id 7f9c24e8-… --project harbour`,
    )
    .action(revoke)
}

function create(options: Options, command: Command): Promise<void> {
  const { org, project, role = project === undefined ? 'services' : 'service_role', scope, label, expiresIn } = options
  const ofProject = role === 'anon' || role === 'service_role'
  if (ofProject ? project === undefined : org === undefined)
    command.error(`error: --role ${role} needs ${ofProject ? '--project' : '--org'}`)
  if (scope && role !== 'services') command.error('error: --scope is for --role services')
  const limits = publicLimits(options, role, command)
  return withControlPlane(async ({ organizations, projects, keys }) => {
    const organization = org === undefined ? undefined : await organizations.find(org)
    const owner = ofProject ? await projects.named(project!, organization?.id) : null
    const issued = await keys.issue({
      organizationId: owner?.organizationId ?? organization!.id,
      ...(owner && { projectId: owner.id }),
      role,
      ...(scope && { scopes: scope }),
      ...(limits && { limits }),
      ...(label !== undefined && { label }),
      ...(expiresIn !== undefined && { expiresAt: new Date(Date.now() + expiresIn) }),
    })
    printIssued(issued, options.json)
  })
}

function isOrigin(text: string): boolean {
  return text === '*' || URL.parse(text)?.origin === text
}

/** Limits of a publishable key; undefined for another key. */
function publicLimits({ table, origin }: Options, role: KeyRole, command: Command) {
  if (!table && !origin) return undefined
  if (role !== 'anon' || !table || !origin) command.error('error: --table and --origin go together, with --role anon')
  const wrong = origin.find((text) => !isOrigin(text))
  if (wrong !== undefined)
    command.error(`error: --origin ${wrong} is not an origin; an example is https://maps.example.org`)
  return { tables: table.map((name) => (name.includes('.') ? name : `public.${name}`)), origins: origin }
}

function list({ org, project, all = false, json }: Options): Promise<void> {
  return withControlPlane(async ({ organizations, projects, keys }) => {
    const organization = org === undefined ? undefined : await organizations.find(org)
    const owner = project === undefined ? undefined : await projects.named(project, organization?.id)
    const found = await keys.list({
      ...(organization && { organizationId: organization.id }),
      ...(owner && { projectId: owner.id }),
      ended: all,
    })
    const columns = ['id', 'prefix', 'role', 'scopes', 'project', 'label', 'expires_at', 'revoked_at', 'last_used_at']
    printList(found.map(shown), columns, json)
  })
}

function rotate(reference: string, { overlap, json }: Options): Promise<void> {
  return withControlPlane(async ({ keys }) => {
    const { id } = await keys.find(reference)
    printIssued(await keys.rotate(id, overlap), json)
    const { expiresAt } = await keys.find(id)
    note(`The former key ${id} is accepted until ${expiresAt?.toISOString() ?? 'now'}.`)
  })
}

function revoke(reference: string | undefined, options: Options, command: Command): Promise<void> {
  const { tokenId, signingKey, project, org, json } = options
  if ([reference, tokenId, signingKey].filter((name) => name !== undefined).length !== 1)
    command.error('error: name one of: a key, --token-id, --signing-key')
  return withControlPlane(async ({ organizations, projects, keys }) => {
    if (reference !== undefined) return revokeNamed(keys, reference, json)
    if (project === undefined) command.error('error: --token-id and --signing-key need --project')
    const organization = org === undefined ? undefined : await organizations.find(org)
    const { id: projectId } = await projects.named(project, organization?.id)
    const [kind, id] = tokenId === undefined ? (['kid', signingKey!] as const) : (['jti', tokenId] as const)
    await keys.revokeTokens({ kind, id, projectId })
    printOne({ [kind]: id, project_id: projectId }, id, json)
  })
}

async function revokeNamed(keys: Keys, reference: string, json: boolean | undefined): Promise<void> {
  const found = await keys.find(reference).catch((error: unknown) => {
    if (error instanceof TerraneError && error.code === 'KEY_NOT_FOUND' && isToken(reference)) return null
    throw error
  })
  if (found === null) {
    await keys.revokeTokens({ token: reference })
    printOne({ revoked: 'token' }, 'token', json)
    return
  }
  await keys.revoke(found.id)
  printOne(shown(await keys.find(found.id)), found.id, json)
}

/** Three parts, the first a JSON object: a compact JWT. */
function isToken(text: string): boolean {
  return /^eyJ[\w-]*\.[\w-]+\.[\w-]+$/.test(text)
}

function printIssued({ key, record }: IssuedKey, json: boolean | undefined): void {
  printOne({ key, ...shown(record) }, key, json)
  note(`Keep it: only its hash is stored. Its id is ${record.id}.`)
}

function shown(record: KeyRecord): Shown {
  return {
    id: record.id,
    prefix: record.prefix,
    organization_id: record.organizationId,
    project: record.projectRef,
    project_id: record.projectId,
    role: record.role,
    scopes: record.scopes,
    label: record.label,
    registered_by: record.registeredBy,
    created_at: record.createdAt.toISOString(),
    expires_at: record.expiresAt?.toISOString() ?? null,
    revoked_at: record.revokedAt?.toISOString() ?? null,
    last_used_at: record.lastUsedAt?.toISOString() ?? null,
  }
}
