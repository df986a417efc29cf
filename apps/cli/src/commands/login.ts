import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { TerraneError } from '@terrane/core/errors'
import type { Command } from 'commander'
import { ask, connect, ownEnvironment, profilesPath, readProfiles, type Connection } from '../connection.ts'
import { note, printOne, withJson } from '../output.ts'
import { onProject } from '../run-task.ts'
import { projectQuery } from './pages.ts'

interface LoginOptions {
  readonly url: string
  readonly project?: string
  readonly json?: boolean
}

/** `terrane login` and `terrane whoami`. */
export function loginCommands(program: Command): void {
  withJson(program.command('login <profile>'))
    .description(
      'Keep the address and key of a project under a name, for --profile. The key is read from standard input.',
    )
    .requiredOption('--url <address>', 'base address of the project')
    .option('--project <ref>', 'its reference, on a shared pool')
    .addHelpText('after', '\nExample:\n  $ terrane login harbour --url https://harbour.example.org < key.txt')
    .action(login)
  onProject(program.command('whoami').description('The project and role that commands use here.')).action(whoami)
}

async function login(name: string, { url, project, json }: LoginOptions): Promise<void> {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw new TerraneError('URL_INVALID', 'invalid', `--url '${url}' is not an http(s) address`)
  if (process.stdin.isTTY) note('Paste the service-role key, then Enter and Ctrl-D.')
  const key = (await text(process.stdin)).trim()
  if (key === '' || /\s/.test(key))
    throw new TerraneError('KEY_MISSING', 'invalid', 'Standard input holds no key', {
      hint: 'Send only the key: terrane login … < key.txt',
    })
  const env = ownEnvironment()
  const profile = { url, key, ...(project !== undefined && { projectRef: project }) }
  await check(await connect(undefined, asEnvironment(profile)))
  const path = profilesPath(env)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  try {
    const known = await readProfiles(env)
    // A new key for the same address leaves the other keys of the profile as they are.
    const kept = known[name]?.url === url ? known[name] : {}
    const all = { ...known, [name]: { ...kept, ...profile } }
    await writeFile(draft, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
  printOne({ profile: name, file: path }, name, json)
  note(`Saved in ${path}. Use it: terrane tables list --profile ${name}`)
}

async function whoami({ profile, json }: { profile?: string; json?: boolean }): Promise<void> {
  const connection = await connect(profile)
  const role = roleOf(connection.key)
  await check(connection)
  const { url, projectRef = null } = connection
  printOne({ url, role, project: projectRef }, `${role} on ${url}${projectRef === null ? '' : `, ${projectRef}`}`, json)
}

/** @throws the project's error about the key */
async function check(connection: Connection): Promise<void> {
  await ask(connection, `/worker/capacity${projectQuery(connection)}`)
}

function asEnvironment({ url, key, projectRef }: { url: string; key: string; projectRef?: string }) {
  return {
    TERRANE_URL: url,
    TERRANE_SERVICE_ROLE_KEY: key,
    ...(projectRef !== undefined && { TERRANE_PROJECT_REF: projectRef }),
  }
}

/** The role that a key names; it is not checked here. */
function roleOf(key: string): string {
  const named = /^trn_([a-z]+)_/.exec(key)?.[1]
  if (named !== undefined) return named
  try {
    const claims = JSON.parse(Buffer.from(key.split('.')[1] ?? '', 'base64url').toString()) as { role?: unknown }
    return typeof claims.role === 'string' ? claims.role : 'unknown role'
  } catch {
    return 'unknown role'
  }
}
