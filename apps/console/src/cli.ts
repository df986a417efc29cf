import { createInterface } from 'node:readline'
import { TerraneError } from '@terrane/core'
import { migrate, openDatabase, type Database } from '@terrane/database'
import { Accounts } from './accounts/accounts.ts'
import { MAX_PASSWORD, MIN_PASSWORD } from './accounts/password.ts'

const USAGE = `Usage: node apps/console/src/cli.ts <command>

Who may use the console (DATABASE_URL):
  user add <e-mail> [name]                     the password on standard input
  user password <e-mail>                       sets a new one, from standard input; ends the user's sessions
  member add <e-mail> <organization id>
  member remove <e-mail> <organization id>

Organizations, projects and keys: terrane org, terrane project, terrane key.
`

class UsageError extends Error {}

try {
  const args = process.argv.slice(2)
  if (args.length === 0 || args[0] === '--help') process.stdout.write(USAGE)
  else await run(args)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  if (error instanceof TerraneError && error.hint) process.stderr.write(`${error.hint}\n`)
  if (error instanceof UsageError) process.stderr.write(`\n${USAGE}`)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function run([group = '', action = '', ...args]: string[]): Promise<void> {
  switch (`${group} ${action}`) {
    case 'user add':
      return withAccounts((accounts) => addUser(accounts, argument(args, 0, 'an e-mail address'), args[1] ?? ''))
    case 'user password':
      return withAccounts((accounts) => setPassword(accounts, argument(args, 0, 'an e-mail address')))
    case 'member add':
    case 'member remove':
      return withAccounts((accounts) => changeMember(accounts, action === 'add', args))
    default:
      throw new UsageError(`unknown command '${`${group} ${action}`.trim()}'`)
  }
}

async function addUser(accounts: Accounts, email: string, name: string): Promise<void> {
  if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new UsageError(`${email} is not an e-mail address`)
  const user = await accounts.add({ email, name, password: await readPassword() })
  if (!user) throw new Error(`there is a user ${email} already`)
  process.stdout.write(`${user.id}\n`)
}

async function setPassword(accounts: Accounts, email: string): Promise<void> {
  if (!(await accounts.setPassword(email, await readPassword()))) throw new Error(`there is no user ${email}`)
}

async function changeMember(accounts: Accounts, add: boolean, args: string[]): Promise<void> {
  const email = argument(args, 0, 'an e-mail address')
  const organization = argument(args, 1, 'the id of an organization')
  const done = add ? await accounts.addMember(email, organization) : await accounts.removeMember(email, organization)
  if (!done) throw new Error(`there is no user ${email} or no organization ${organization}`)
}

async function readPassword(): Promise<string> {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.length >= MIN_PASSWORD && line.length <= MAX_PASSWORD) return line
    break
  }
  throw new UsageError(`standard input holds no password of ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`)
}

function withAccounts(work: (accounts: Accounts) => Promise<void>): Promise<void> {
  return withDatabase((database) => work(new Accounts(database)))
}

async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const url = process.env['DATABASE_URL']
  if (!url) throw new UsageError('DATABASE_URL is not set')
  const database = await openDatabase({ url, max: 1, applicationName: 'terrane console cli' })
  try {
    await migrate(database, ['control'])
    await work(database)
  } finally {
    await database.close()
  }
}

function argument(args: readonly string[], index: number, what: string): string {
  const value = args[index]
  if (!value) throw new UsageError(`${what} is missing`)
  return value
}
